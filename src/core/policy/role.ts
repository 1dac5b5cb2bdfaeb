/** What an operator or a key may do: each role may do all that those before it may (decisions.md, Callers and tenants). */
export const roles = ['reader', 'editor', 'admin'] as const;

/** Roles of keys. `metrics` reads /metrics and nothing else, so that a monitoring system holds no key to records. */
export const keyRoles = ['metrics', ...roles] as const;
export type Role = (typeof keyRoles)[number];

function parseRole<R extends Role>(known: readonly R[], text: string): R {
  const role = known.find((one) => one === text);
  if (!role) throw new Error(`a stored role is unknown: ${text}`);
  return role;
}

/** Parses the role that a row of keys holds. */
export const parseKeyRole = (text: string): Role => parseRole(keyRoles, text);
/** Parses the role that a row of operators holds. */
export const parseOperatorRole = (text: string) => parseRole(roles, text);

export const reaches = (has: Role, needs: Role) => keyRoles.indexOf(has) >= keyRoles.indexOf(needs);

/** Returns whether a role reads /metrics, which tells of all tenants. */
export const readsMetrics = (role: Role) => role === 'metrics' || role === 'admin';
