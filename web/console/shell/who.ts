import { createContext, useContext } from 'react';
import { includesRole, type Role } from '#core/policy/role.ts';
import type { CallerRecord } from '#core/records/operator.ts';

const Who = createContext<CallerRecord | null>(null);
export const WhoProvider = Who.Provider;

/** Who has signed in. */
export function useWho(): CallerRecord {
  const who = useContext(Who);
  if (!who) throw new Error('no operator has signed in');
  return who;
}

/** May the operator do what needs that role? What may not be done is not offered. */
export const useMay = (role: Role) => includesRole(useWho().role, role);
