import { createContext, useContext } from 'react';
import { includesRole, type Role } from '#core/authorization/role.ts';
import type { CallerRecord } from '#core/records/operator.ts';

const CallerContext = createContext<CallerRecord | null>(null);
export const CallerProvider = CallerContext.Provider;

/** Returns the operator who has signed in. After the session has ended, returns the same operator until the next sign-in. */
export function useCaller(): CallerRecord {
  const caller = useContext(CallerContext);
  if (!caller) throw new Error('no operator has signed in');
  return caller;
}

/** Returns whether the operator has a role or a higher one. */
export const useHasRole = (role: Role) => includesRole(useCaller().role, role);
