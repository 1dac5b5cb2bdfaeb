import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { asFailure } from './link-api.ts';

/** Codes that show that the permissions, the session or the used space changed after the page had requested the visit. */
const changeCodes = ['quotaExceeded', 'signInNeeded', 'linkUnknown', 'linkEnded', 'notAdmitted', 'addressRefused', 'permissionOff'];

/** Requests the visit again: its permissions, its session and the used space. */
export const RefreshContext = createContext<() => void>(() => {});

/** Returns a function that receives failures. It requests the visit again if the failure shows that the visit has changed. */
export function useReportFailure(): (cause: unknown) => void {
  const refresh = useContext(RefreshContext);
  return (cause) => {
    if (changeCodes.includes(asFailure(cause).code)) refresh();
  };
}
