import { createContext, useContext } from 'react';
import { includesRole, type Role } from '#core/authorization/role.ts';
import type { CallerRecord } from '#core/records/operator.ts';

const CallerContext = createContext<CallerRecord | null>(null);
export const CallerProvider = CallerContext.Provider;

/** Returns the operator who has signed in, also while they must sign in again because the session has ended. */
export function useCaller(): CallerRecord {
  const caller = useContext(CallerContext);
  if (!caller) throw new Error('no operator has signed in');
  return caller;
}

/** Returns whether the operator has a role or a higher one. Actions that need a higher role are not offered. */
export const useHasRole = (role: Role) => includesRole(useCaller().role, role);
