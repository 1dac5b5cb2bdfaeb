import { createContext, useContext } from 'react';
import { type Role, reaches } from '#core/policy/role.ts';
import type { WhoCalls } from '#core/records/operator.ts';

const Who = createContext<WhoCalls | null>(null);
export const WhoProvider = Who.Provider;

/** Who has signed in. */
export function useWho(): WhoCalls {
  const who = useContext(Who);
  if (!who) throw new Error('no operator has signed in');
  return who;
}

/** May the operator do what needs that role? What may not be done is not offered. */
export const useMay = (role: Role) => reaches(useWho().role, role);
