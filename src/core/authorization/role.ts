/** Roles of operators and keys. Each role may do what the roles before it may do. */
export const roles = ['reader', 'editor', 'admin'] as const;

/** Roles of keys. `metrics` may only read /metrics, so that a monitoring system has no access to records. */
export const keyRoles = ['metrics', ...roles] as const;
export type Role = (typeof keyRoles)[number];

function parseRole<R extends Role>(validRoles: readonly R[], text: string): R {
  const role = validRoles.find((validRole) => validRole === text);
  if (!role) throw new Error(`unknown role in the database: ${text}`);
  return role;
}

/** Returns the role of a row of API keys. @throws Error if it is not a role of keys */
export const parseKeyRole = (text: string): Role => parseRole(keyRoles, text);
/** Returns the role of a row of operators. @throws Error if it is not a role of operators */
export const parseOperatorRole = (text: string) => parseRole(roles, text);

/**
 * Returns whether a role may do what the required role may do. Not for /metrics, which `reader` and `editor` may not read: use
 * `canReadMetrics`.
 */
export const includesRole = (role: Role, required: Role) => keyRoles.indexOf(role) >= keyRoles.indexOf(required);

/** Returns whether a role may read /metrics. It has numbers of all tenants, so the caller must also belong to tenant 1. */
export const canReadMetrics = (role: Role) => role === 'metrics' || role === 'admin';
