import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KyselyPlugin } from 'kysely';
import { until } from '../ports/until.ts';
import { createUsersProfile, type Json, newShare, signIn, startPostern } from '../start.ts';
import { basicAuthorization, jsonPostRequest } from '../visit/visiting.ts';

test('share/activity counts by day and by visitor, and names the listed users who have not visited', async (t) => {
  let now = Date.parse('2026-05-01T10:00:00Z');
  const postern = await startPostern(t, { replacements: { ports: { clock: { now: () => now } } } });
  const profile = await createUsersProfile(postern, ['ann', 'bob']);
  const { id, viewId } = await postern.call(
    'share/add',
    newShare({ authenticationId: profile.id, allowAllUsers: false, userNames: 'ann,bob' }),
  );
  const activity = (query = {}) => postern.call('share/activity', { id, ...query });
  assert.deepEqual((await activity()).notVisited, ['ann', 'bob']);
  const cookie = await signIn(postern, `/s/${viewId}`, 'ann');
  await postern.visit(`/s/${viewId}/file/welcome.txt`, { headers: { cookie } });
  now = Date.parse('2026-05-02T09:00:00Z');
  const secondCookie = await signIn(postern, `/s/${viewId}`, 'ann');
  await postern.visit(`/s/${viewId}/file/welcome.txt`, { headers: { cookie: secondCookie } });
  const report = await activity();
  assert.deepEqual(
    report.byDay.map(({ date, downloads }: Json) => [date, downloads]),
    [
      ['2026-05-01', 1],
      ['2026-05-02', 1],
    ],
  );
  const ann = report.byVisitor.find(({ visitor }: Json) => visitor === 'ann');
  assert.equal(ann.downloads, 2);
  assert.deepEqual(report.notVisited, ['bob']);
  assert.deepEqual(
    (await activity({ fromDate: '2026-05-02' })).byDay.map(({ date }: Json) => date),
    ['2026-05-02'],
  );
  assert.deepEqual(
    (await activity({ toDate: '2026-05-01' })).byDay.map(({ date }: Json) => date),
    ['2026-05-01'],
  );
  assert.deepEqual((await activity({ fromDate: '2026-05-03' })).notVisited, ['ann', 'bob']);
});

test('all requests of one visit are counted as one visit, and a refused visitor is not counted', async (t) => {
  let now = Date.parse('2026-05-01T10:00:00Z');
  const postern = await startPostern(t, { replacements: { ports: { clock: { now: () => now } } } });
  const profile = await createUsersProfile(postern, ['ann', 'bob', 'carol', 'dan']);
  const share = { authenticationId: profile.id, allowAllUsers: false, userNames: 'ann,carol,dan' };
  const { id, viewId } = await postern.call('share/add', newShare(share));
  const base = `/s/${viewId}`;
  // Ann's page never calls visit; Carol's program calls it repeatedly; Dan only signs in, and sees the share; Bob is refused.
  const cookie = await signIn(postern, base, 'ann');
  await postern.visit(`${base}/list`, { headers: { cookie } });
  await postern.visit(`${base}/file/welcome.txt`, { headers: { cookie } });
  await postern.visit(`${base}/file/new.txt`, { method: 'PUT', body: 'new', headers: { cookie } });
  for (let times = 0; times < 3; times += 1)
    await postern.visit(`${base}/visit`, { headers: { authorization: basicAuthorization('carol', 'correct horse battery') } });
  await signIn(postern, base, 'dan');
  const refusal = await postern.visit(`${base}/sign-in`, jsonPostRequest({ username: 'bob', password: 'correct horse battery' }));
  assert.equal(refusal.status, 403);
  now = Date.parse('2026-05-01T14:00:00Z');
  await postern.visit(`${base}/visit`, { headers: { authorization: basicAuthorization('carol', 'correct horse battery') } });

  const activity = async () => await postern.call('share/activity', { id });
  await until(async () => (await activity()).byDay[0]?.visits === 4); // visits are recorded concurrently with the responses
  const { byDay, byVisitor, notVisited } = await activity();
  assert.deepEqual(byDay, [{ date: '2026-05-01', visits: 4, downloads: 1, uploads: 1 }]);
  assert.deepEqual(byVisitor.map(({ visitor, visits }: Json) => [visitor, visits]).sort(), [
    ['ann', 1],
    ['carol', 2],
    ['dan', 1],
  ]);
  assert.deepEqual(notVisited, []);
  const { list } = await postern.call('share/lastVisits', { ids: [id] });
  assert.equal(list[0].lastVisitDateTime, '2026-05-01T14:00:00.000Z');
});

test('share/activity does not compare listed names with every audit entry', async (t) => {
  const postern = await startPostern(t);
  const { id } = await postern.call('share/add', newShare());
  const nodes: string[] = [];
  const recordNodes: KyselyPlugin = {
    transformQuery({ node }) {
      nodes.push(JSON.stringify(node));
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const { store } = postern.ports;
  Object.assign(store, { reports: store.reports.withPlugin(recordNodes) });
  assert.deepEqual((await postern.call('share/activity', { id }, { method: 'POST' })).notVisited, []);
  assert.ok(nodes.length > 0 && !nodes.some((node) => node.includes('"not in"')));
});
