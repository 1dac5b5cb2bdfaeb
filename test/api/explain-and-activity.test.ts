import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KyselyPlugin } from 'kysely';
import { until } from '../ports/until.ts';
import { type Json, newShare, signIn, startPostern, usersProfile } from '../start.ts';
import { basic, posting } from '../visit/visiting.ts';
import { faultsOf } from './keys.ts';

const allowed = ({ outcomes }: Json) =>
  outcomes
    .filter((outcome: Json) => outcome.allowed)
    .map(({ action }: Json) => action)
    .sort();
const broken = ({ rules }: Json) => rules.filter(({ passed }: Json) => passed === false).map(({ rule }: Json) => rule);
const every = ['visit', 'list', 'view', 'download', 'downloadFolder', 'upload', 'createFolder', 'rename', 'delete'];

test('share/explain returns every rule with its reason, and the outcome of every action', async (t) => {
  const postern = await startPostern(t);
  const { id } = await postern.call('share/add', newShare({ canUpload: false, canRename: false }));
  const answer = await postern.call('share/explain', { id });
  for (const rule of answer.rules) {
    assert.deepEqual(Object.keys(rule).sort(), ['passed', 'reason', 'rule']);
    assert.notEqual(rule.reason, '');
  }
  assert.deepEqual(answer.outcomes.map(({ action }: Json) => action).sort(), [...every].sort());
  assert.deepEqual(allowed(answer), every.filter((action) => !['upload', 'rename'].includes(action)).sort());
});

test('share/explain checks the address rule if an address is given; otherwise passed is null', async (t) => {
  const postern = await startPostern(t);
  const { id: authenticationId } = await postern.call('loginprofile/add', { typeId: 1, ipRange: '10.0.0.0/8' });
  const { id } = await postern.call('share/add', newShare({ authenticationId }));
  const open = (await postern.call('share/explain', { id })).rules.find(({ passed }: Json) => passed === null);
  assert.match(open.rule, /address/i);
  assert.deepEqual(broken(await postern.call('share/explain', { id, address: '10.1.2.3' })), []);
  assert.deepEqual(broken(await postern.call('share/explain', { id, address: '::ffff:10.1.2.3' })), []);
  const outside = await postern.call('share/explain', { id, address: '11.1.2.3' });
  assert.deepEqual([broken(outside), allowed(outside)], [['address'], []]);
});

test('share/explain answers for any given time', async (t) => {
  const postern = await startPostern(t);
  const { id } = await postern.call('share/add', newShare({ validityStartDate: '2030-01-01', validityEndDate: '2030-12-31' }));
  const at = async (instant: string) => allowed(await postern.call('share/explain', { id, at: instant })).length > 0;
  assert.deepEqual(
    [await at('2029-12-31T23:59:59.999Z'), await at('2030-01-01'), await at('2030-12-31T23:59:59.999Z'), await at('2031-01-01T00:00:00Z')],
    [false, true, true, false],
  );
});

test('share/explain answers for any access user, and for an anonymous visitor', async (t) => {
  const postern = await startPostern(t);
  const profile = await usersProfile(postern, ['ann', 'bob']);
  const { id } = await postern.call('share/add', newShare({ authenticationId: profile.id, allowAllUsers: false, userNames: 'ann' }));
  const download = async (who: object) =>
    allowed(await postern.call('share/explain', { id, action: 'download', ...who })).includes('download');
  assert.equal(await download({}), false);
  assert.equal(await download({ username: 'ANN' }), true);
  assert.equal(await download({ email: 'ann@example.com' }), true);
  assert.equal(await download({ username: 'bob' }), false);
  await postern.call('accessuser/update', { id: profile.users['ann'], authId: profile.id, active: false });
  assert.equal(await download({ username: 'ann' }), false);
});

test('share/explain admits a member of a listed group if the identity provider supplies groups', async (t) => {
  const postern = await startPostern(t);
  const { id: authenticationId } = await postern.call('loginprofile/add', {
    typeId: 5,
    configuration: JSON.stringify({ issuer: 'https://id.example.com', clientId: 'a', clientSecret: 'b' }),
  });
  const { id } = await postern.call('share/add', newShare({ authenticationId, allowAllUsers: false, groupNames: '"Sales, EU"' }));
  const may = async (who: object) => allowed(await postern.call('share/explain', { id, ...who })).includes('download');
  assert.equal(await may({ email: 'x@example.com', groupNames: 'staff,"sales, eu"' }), true);
  assert.equal(await may({ email: 'x@example.com', groupNames: 'staff' }), false);
});

test('share/explain refuses an invalid field with its name, and changes nothing', async (t) => {
  const postern = await startPostern(t);
  const { id } = await postern.call('share/add', newShare());
  const before = JSON.stringify([await postern.call('share/search'), (await postern.call('audit/search')).totalCount]);
  for (const [field, value] of [
    ['at', 'soon'],
    ['address', 'home'],
    ['action', 'fly'],
    ['adress', '::1'],
    ['groupNames', 7],
    ['groupNames', Array.from({ length: 1001 }, (_, index) => `g${index}`).join(',')],
  ] as const)
    assert.deepEqual(faultsOf(await postern.send('share/explain', { id, [field]: value })), [field]);
  await postern.call('share/explain', { id, action: 'delete' });
  assert.equal(JSON.stringify([await postern.call('share/search'), (await postern.call('audit/search')).totalCount]), before);
});

test('share/activity counts by day and by visitor, and names the listed users who have not visited', async (t) => {
  let now = Date.parse('2026-05-01T10:00:00Z');
  const postern = await startPostern(t, { replaced: { ports: { clock: { now: () => now } } } });
  const profile = await usersProfile(postern, ['ann', 'bob']);
  const { id, viewId } = await postern.call(
    'share/add',
    newShare({ authenticationId: profile.id, allowAllUsers: false, userNames: 'ann,bob' }),
  );
  const activity = (query = {}) => postern.call('share/activity', { id, ...query });
  assert.deepEqual((await activity()).notCome, ['ann', 'bob']);
  const cookie = await signIn(postern, `/s/${viewId}`, 'ann');
  await postern.visit(`/s/${viewId}/file/welcome.txt`, { headers: { cookie } });
  now = Date.parse('2026-05-02T09:00:00Z');
  const again = await signIn(postern, `/s/${viewId}`, 'ann');
  await postern.visit(`/s/${viewId}/file/welcome.txt`, { headers: { cookie: again } });
  const seen = await activity();
  assert.deepEqual(
    seen.byDay.map(({ date, downloads }: Json) => [date, downloads]),
    [
      ['2026-05-01', 1],
      ['2026-05-02', 1],
    ],
  );
  const ann = seen.byVisitor.find(({ visitor }: Json) => visitor === 'ann');
  assert.equal(ann.downloads, 2);
  assert.deepEqual(seen.notCome, ['bob']);
  assert.deepEqual(
    (await activity({ fromDate: '2026-05-02' })).byDay.map(({ date }: Json) => date),
    ['2026-05-02'],
  );
  assert.deepEqual(
    (await activity({ toDate: '2026-05-01' })).byDay.map(({ date }: Json) => date),
    ['2026-05-01'],
  );
  assert.deepEqual((await activity({ fromDate: '2026-05-03' })).notCome, ['ann', 'bob']);
});

test('all requests of one visit are counted as one visit, and a refused visitor is not counted', async (t) => {
  let now = Date.parse('2026-05-01T10:00:00Z');
  const postern = await startPostern(t, { replaced: { ports: { clock: { now: () => now } } } });
  const profile = await usersProfile(postern, ['ann', 'bob', 'carol', 'dan']);
  const share = { authenticationId: profile.id, allowAllUsers: false, userNames: 'ann,carol,dan' };
  const { id, viewId } = await postern.call('share/add', newShare(share));
  const base = `/s/${viewId}`;
  // Ann's page never calls visit; Carol's program calls it repeatedly; Dan only signs in; Bob is refused.
  const cookie = await signIn(postern, base, 'ann');
  await postern.visit(`${base}/list`, { headers: { cookie } });
  await postern.visit(`${base}/file/welcome.txt`, { headers: { cookie } });
  await postern.visit(`${base}/file/new.txt`, { method: 'PUT', body: 'new', headers: { cookie } });
  for (let times = 0; times < 3; times += 1)
    await postern.visit(`${base}/visit`, { headers: { authorization: basic('carol', 'correct horse battery') } });
  await signIn(postern, base, 'dan');
  const refused = await postern.visit(`${base}/sign-in`, posting({ username: 'bob', password: 'correct horse battery' }));
  assert.equal(refused.status, 403);
  now = Date.parse('2026-05-01T14:00:00Z');
  await postern.visit(`${base}/visit`, { headers: { authorization: basic('carol', 'correct horse battery') } });

  const seen = async () => await postern.call('share/activity', { id });
  await until(async () => (await seen()).byDay[0]?.visits === 3); // visits are recorded concurrently with the responses
  const { byDay, byVisitor, notCome } = await seen();
  assert.deepEqual(byDay, [{ date: '2026-05-01', visits: 3, downloads: 1, uploads: 1 }]);
  assert.deepEqual(byVisitor.map(({ visitor, visits }: Json) => [visitor, visits]).sort(), [
    ['ann', 1],
    ['carol', 2],
  ]);
  assert.deepEqual(notCome, ['dan']);
  const { list } = await postern.call('share/lastVisits', { ids: [id] });
  assert.equal(list[0].lastVisitDateTime, '2026-05-01T14:00:00.000Z');
});

test('share/explain reads only one user if several users have the given e-mail address', async (t) => {
  const postern = await startPostern(t);
  const { id: authId } = await postern.call('loginprofile/add', { title: 'Clients', typeId: 3 });
  const users = ['ann', 'bob', 'cem'].map((username) => ({ username, active: true, email: 'team@example.com' }));
  await postern.call('accessuser/addMany', { authId, users });
  const { id } = await postern.call('share/add', newShare({ authenticationId: authId }));
  const read: number[] = [];
  const counting: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      read.push(result.rows.length);
      return result;
    },
  };
  const { store } = postern.ports;
  Object.assign(store, { search: store.search.withPlugin(counting) });
  const { rules } = await postern.call('share/explain', { id, email: 'team@example.com' }, { method: 'POST' });
  assert.ok(rules.length > 0);
  assert.deepEqual(read, [1]);
});

test('share/activity does not compare listed names with every audit entry', async (t) => {
  const postern = await startPostern(t);
  const { id } = await postern.call('share/add', newShare());
  const nodes: string[] = [];
  const noting: KyselyPlugin = {
    transformQuery({ node }) {
      nodes.push(JSON.stringify(node));
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const { store } = postern.ports;
  Object.assign(store, { reports: store.reports.withPlugin(noting) });
  assert.deepEqual((await postern.call('share/activity', { id }, { method: 'POST' })).notCome, []);
  assert.ok(nodes.length > 0 && !nodes.some((node) => node.includes('"not in"')));
});
