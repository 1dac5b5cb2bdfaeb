import { keyRoles, roles } from '#core/policy/role.ts';
import { firstTenant } from '#core/records/tenant.ts';

const roleLabels = {
  metrics: 'Metrics: reads /metrics, and nothing else',
  reader: 'Reader: sees everything but secrets and the trail',
  editor: 'Editor: shares and people too',
  admin: 'Admin: everything',
} as const;

/** The roles of operators to choose from, in words. */
export const roleChoices = roles.map((role) => ({ value: role, label: roleLabels[role] }));

/** The roles of keys. Metrics tell of all tenants: keys for them are made in tenant 1. */
export const keyRoleChoices = (tid: number) =>
  keyRoles.filter((role) => role !== 'metrics' || tid === firstTenant).map((role) => ({ value: role, label: roleLabels[role] }));
