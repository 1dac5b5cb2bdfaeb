import type { Migration } from './migration.ts';

/** Addresses of login profiles have their id alone, without a tenant. Not unique: Citus allows that only with the tenant (scale.md). */
export const profileId: Migration = {
  name: '0018-profile-id',
  statements: () => ['CREATE INDEX login_profile_id ON login_profile(id)'],
};
