import { createUsersProfile, newShare, type TestPostern } from '../start.ts';

export const ifMatch = (etag: string) => ({ headers: { 'if-match': etag } });
export const newPassword = { userPassword: 'another long secret', confirmPassword: 'another long secret' };

/** Creates a login profile with two users, and a share. @returns the records of the share, the login profile and the user ann */
export async function createRecords(postern: TestPostern) {
  const profile = await createUsersProfile(postern, ['ann', 'bob']);
  const { id } = await postern.call('share/add', newShare({ authenticationId: profile.id, allowAllUsers: false, userNames: 'ann' }));
  const user = (await postern.call('accessuser/search', { searchWord: 'ann' })).list[0];
  return { share: await postern.call('share/get', { id }), profile: await postern.call('loginprofile/get', { id: profile.id }), user };
}
