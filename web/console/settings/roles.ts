import { roles } from '#core/policy/role.ts';

const words = {
  reader: 'Reader: sees everything but secrets and the trail',
  editor: 'Editor: shares and people too',
  admin: 'Admin: everything',
} as const;

/** The roles to choose from, in words. */
export const roleChoices = roles.map((role) => ({ value: role, label: words[role] }));
