import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { asFailure } from './link-api.ts';

/** Codes of failures that may mean that the permissions, the session or the used space have changed. */
const changeCodes = [
  'quotaExceeded',
  'signInNeeded',
  'linkUnknown',
  'linkEnded',
  'notAdmitted',
  'addressRefused',
  'permissionOff',
  'folderNotCreated',
];

/** Requests the visit again: its permissions, its session and the used space. */
export const RefreshContext = createContext<() => void>(() => {});

/** Returns a function that receives failures. It requests the visit again if the visit may have changed. */
export function useReportFailure(): (cause: unknown) => void {
  const refresh = useContext(RefreshContext);
  return (cause) => {
    if (changeCodes.includes(asFailure(cause).code)) refresh();
  };
}
