import assert from 'node:assert/strict';
import { test } from 'node:test';
import { portalTurns, searchTurns } from '#features/turns/search-turns.ts';
import { portalResponse } from '#features/visits/authorization/portal.ts';
import { createUsersProfile, signIn, startPostern } from '../start.ts';

test('a portal page that waits for a long search of its tenant delays no portal of another tenant', async (t) => {
  const postern = await startPostern(t);
  const profile = await createUsersProfile(postern);
  const { viewId } = await postern.call('loginprofile/get', { id: profile.id });
  await signIn(postern, `/p/${viewId}`, 'ann');
  const [searches, portals] = [searchTurns(1), portalTurns()];
  const search = Promise.withResolvers<void>();
  const neverAborted = new AbortController().signal;
  const longSearch = searches.run({ tid: 1, groups: ['key 1', 'key 1'] }, neverAborted, () => search.promise); // a search in the audit log of tenant 1
  const { store, clock, links } = postern.ports;
  const row = await store.read.selectFrom('login_profile').selectAll().where('id', '=', Number(profile.id)).executeTakeFirstOrThrow();
  const pageOf = (tid: number) => {
    const signedIn = { userId: 1, identityKey: '', subject: 'ann', name: 'ann', email: '', names: ['ann'], groups: [] };
    const access = { profile: { ...row, profile_id: row.id, tid }, visitorRequest: { address: '192.0.2.1' } };
    return portalResponse(
      Object.assign(Object.create(null), { store, clock, links, searches, portals, signInKinds: {} }),
      Object.assign(Object.create(null), access),
      { signedIn, reauthenticate: async () => signedIn, passwordVerified: false },
    );
  };
  const waitingPage = pageOf(1);
  assert.deepEqual((await pageOf(2)).shares, []);
  search.resolve();
  await Promise.all([longSearch, waitingPage]);
});
