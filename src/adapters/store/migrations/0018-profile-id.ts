import type { Migration } from './migration.ts';

/** The address of a login profile has its id but no tenant. Citus allows unique indexes only with the tenant, so this one is not unique. */
export const profileId: Migration = {
  name: '0018-profile-id',
  statements: () => ['CREATE INDEX login_profile_id ON login_profile(id)'],
};
