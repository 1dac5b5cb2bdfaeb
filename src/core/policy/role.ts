/** What a key may do: each role may do all that those before it may (decisions.md, Callers and tenants). */
export const roles = ['reader', 'editor', 'admin'] as const;
export type Role = (typeof roles)[number];

export const reaches = (has: Role, needs: Role) => roles.indexOf(has) >= roles.indexOf(needs);
