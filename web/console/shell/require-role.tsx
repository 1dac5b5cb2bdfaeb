import type { ReactNode } from 'react';
import { PageHead } from '#console/components/page-head.tsx';
import type { Role } from '#core/authorization/role.ts';
import { useHasRole } from './caller.ts';

/** Shows a page only to operators with the required role, and an explanation to others. */
export function RequireRole({ role, children }: { role: Role; children: ReactNode }) {
  const hasRole = useHasRole(role);
  return hasRole ? children : <PageHead title="Access denied" lead={`This page needs the role ${role}. Ask an admin to give it to you.`} />;
}
