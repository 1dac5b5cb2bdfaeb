import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { asFailure } from './link-api.ts';

/** Refusals that say: something is not as it was when the page asked what may be done. */
const changed = ['signInNeeded', 'linkUnknown', 'linkEnded', 'notAdmitted', 'addressRefused', 'permissionOff'];

/** Asks the link again what may be done, and by whom. */
export const AskingAgain = createContext<() => void>(() => {});

/** Everything that is refused is told here: the page learns of what has ended wherever it meets it. */
export function useRefused(): (cause: unknown) => void {
  const askAgain = useContext(AskingAgain);
  return (cause) => {
    if (changed.includes(asFailure(cause).code)) askAgain();
  };
}
