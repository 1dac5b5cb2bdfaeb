import type { ReactNode } from 'react';
import { PageHead } from '#console/records/page-head.tsx';
import type { Role } from '#core/policy/role.ts';
import { useHasRole } from './who.ts';

/** A page for whom the role reaches; whoever comes by its address is told. */
export function RequireRole({ role, children }: { role: Role; children: ReactNode }) {
  const may = useHasRole(role);
  return may ? children : <PageHead title="Not for your role" lead={`This page needs the role ${role}: an admin can give it to you.`} />;
}
