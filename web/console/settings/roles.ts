import { keyRoles, roles } from '#core/authorization/role.ts';
import { firstTenant } from '#core/records/tenant.ts';

const roleLabels = {
  metrics: 'Metrics: can read /metrics only',
  reader: 'Reader: can view shares, access users, login profiles and reports',
  editor: 'Editor: can also change shares and access users',
  admin: 'Admin: can do everything',
} as const;

export const roleChoices = roles.map((role) => ({ value: role, label: roleLabels[role] }));

/** Returns the choices for the role of an API key. Metrics cover all tenants, so only tenant 1 has keys for them. */
export const keyRoleChoices = (tid: number) =>
  keyRoles.filter((role) => role !== 'metrics' || tid === firstTenant).map((role) => ({ value: role, label: roleLabels[role] }));
