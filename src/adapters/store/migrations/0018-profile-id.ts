import type { Migration } from './migration.ts';

/**
 * The redirect URI of a login profile contains its id but not its tenant, so the profile is looked up by id alone. Citus allows a unique
 * index only if it includes the tenant, so this index is not unique.
 */
export const profileId: Migration = {
  name: '0018-profile-id',
  statements: () => ['CREATE INDEX login_profile_id ON login_profile(id)'],
};
