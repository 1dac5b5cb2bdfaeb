import type { Migration } from './migration.ts';

/** Addresses of login profiles have their id alone, without a tenant: it names one profile, and is looked up for anybody. */
export const profileId: Migration = {
  name: '0018-profile-id',
  statements: () => ['CREATE UNIQUE INDEX login_profile_id ON login_profile(id)'],
};
