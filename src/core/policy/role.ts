/** What an operator or a key may do: each role may do all that those before it may (decisions.md, Callers and tenants). */
export const roles = ['reader', 'editor', 'admin'] as const;

/** Roles of keys. `metrics` reads /metrics and nothing else, so that a monitoring system holds no key to records. */
export const keyRoles = ['metrics', ...roles] as const;
export type Role = (typeof keyRoles)[number];

export const reaches = (has: Role, needs: Role) => keyRoles.indexOf(has) >= keyRoles.indexOf(needs);

/** Returns whether a role reads /metrics, which tells of all tenants. */
export const readsMetrics = (role: Role) => role === 'metrics' || role === 'admin';
