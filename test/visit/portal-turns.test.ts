import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type ClientTurns, portalTurns, searchTurns } from '#features/turns/search-turns.ts';
import { portalResponse } from '#features/visits/authorization/portal.ts';
import { createUsersProfile, startPostern } from '../start.ts';

/**
 * Starts Postern with a login profile.
 * @returns a function that reads the first page of its portal, as if the profile belonged to tenant `tid`
 */
async function startWithPortal(t: TestContext, searches: ClientTurns, portals: ClientTurns, onQuery = () => {}) {
  const postern = await startPostern(t);
  const profile = await createUsersProfile(postern);
  const { store, clock, links } = postern.ports;
  const row = await store.read.selectFrom('login_profile').selectAll().where('id', '=', Number(profile.id)).executeTakeFirstOrThrow();
  const observedStore = Object.create(store, {
    search: {
      get() {
        onQuery();
        return store.search;
      },
    },
  });
  return (tid: number) => {
    const signedIn = { userId: 1, identityKey: '', subject: 'ann', name: 'ann', email: '', names: ['ann'], groups: [] };
    const access = { profile: { ...row, profile_id: row.id, tid }, visitorRequest: { address: '192.0.2.1' } };
    return portalResponse(
      Object.assign(Object.create(null), { store: observedStore, clock, links, searches, portals, signInKinds: {} }),
      Object.assign(Object.create(null), access),
      { signedIn, reauthenticate: async () => signedIn, passwordVerified: false },
    );
  };
}

test('a portal page that waits for a long search of its tenant delays no portal of another tenant', async (t) => {
  const [searches, portals] = [searchTurns(1), portalTurns()];
  const pageOf = await startWithPortal(t, searches, portals);
  const search = Promise.withResolvers<void>();
  const neverAborted = new AbortController().signal;
  const longSearch = searches.run({ tid: 1, groups: ['key 1', 'key 1'] }, neverAborted, () => search.promise); // a search in the audit log of tenant 1
  const waitingPage = pageOf(1);
  assert.deepEqual((await pageOf(2)).shares, []);
  search.resolve();
  await Promise.all([longSearch, waitingPage]);
});

test('the query of a portal page does not take the turn that all portals share', async (t) => {
  const events: string[] = [];
  const portals: ClientTurns = {
    async run(_client, _clientGone, form) {
      events.push('turn');
      return form();
    },
  };
  const pageOf = await startWithPortal(t, searchTurns(1), portals, () => events.push('query'));
  await pageOf(1);
  assert.deepEqual(events, ['query', 'turn']);
});
