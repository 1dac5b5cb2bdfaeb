import type { roles } from '#core/authorization/role.ts';
import type { OidcConfiguration } from '#core/records/profile-configuration.ts';

type OperatorRole = (typeof roles)[number];

/** The provider at which operators sign in. */
export interface OperatorProvider {
  readonly client: OidcConfiguration;
  /** The groups whose members get a role. */
  readonly groups: Readonly<Record<OperatorRole, readonly string[]>>;
}

const highestFirst = ['admin', 'editor', 'reader'] as const satisfies readonly OperatorRole[];

/** Returns the highest role that the groups of a user give, or null. */
export const roleOfGroups = ({ groups }: OperatorProvider, groupsOfUser: readonly string[]): OperatorRole | null =>
  highestFirst.find((role) => groups[role].some((group) => groupsOfUser.includes(group))) ?? null;
