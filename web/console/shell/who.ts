import { createContext, useContext } from 'react';
import { includesRole, type Role } from '#core/policy/role.ts';
import type { CallerRecord } from '#core/records/operator.ts';

const CallerContext = createContext<CallerRecord | null>(null);
export const CallerProvider = CallerContext.Provider;

/** Who has signed in. */
export function useCaller(): CallerRecord {
  const who = useContext(CallerContext);
  if (!who) throw new Error('no operator has signed in');
  return who;
}

/** May the operator do what needs that role? What may not be done is not offered. */
export const useHasRole = (role: Role) => includesRole(useCaller().role, role);
