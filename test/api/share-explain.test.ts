import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KyselyPlugin } from 'kysely';
import { createUsersProfile, type Json, newShare, startPostern } from '../start.ts';
import { fieldErrorsOf } from './field-errors.ts';

const allowedActions = ({ outcomes }: Json) =>
  outcomes
    .filter((outcome: Json) => outcome.allowed)
    .map(({ action }: Json) => action)
    .sort();
const failedRules = ({ rules }: Json) => rules.filter(({ passed }: Json) => passed === false).map(({ rule }: Json) => rule);
const allActions = ['visit', 'list', 'view', 'download', 'downloadFolder', 'upload', 'createFolder', 'rename', 'delete'];

test('share/explain returns every rule with its reason, and the outcome of every action', async (t) => {
  const postern = await startPostern(t);
  const { id } = await postern.call('share/add', newShare({ canUpload: false, canRename: false }));
  const answer = await postern.call('share/explain', { id });
  for (const rule of answer.rules) {
    assert.deepEqual(Object.keys(rule).sort(), ['passed', 'reason', 'rule']);
    assert.notEqual(rule.reason, '');
  }
  assert.deepEqual(answer.outcomes.map(({ action }: Json) => action).sort(), [...allActions].sort());
  assert.deepEqual(allowedActions(answer), allActions.filter((action) => !['upload', 'rename'].includes(action)).sort());
});

test('share/explain checks the address rule if an address is given; otherwise the rule has `passed: null`', async (t) => {
  const postern = await startPostern(t);
  const { id: authenticationId } = await postern.call('loginprofile/add', { typeId: 1, ipRange: '10.0.0.0/8' });
  const { id } = await postern.call('share/add', newShare({ authenticationId }));
  const uncheckedRule = (await postern.call('share/explain', { id })).rules.find(({ passed }: Json) => passed === null);
  assert.match(uncheckedRule.rule, /address/i);
  assert.deepEqual(failedRules(await postern.call('share/explain', { id, address: '10.1.2.3' })), []);
  assert.deepEqual(failedRules(await postern.call('share/explain', { id, address: '::ffff:10.1.2.3' })), []);
  const outside = await postern.call('share/explain', { id, address: '11.1.2.3' });
  assert.deepEqual([failedRules(outside), allowedActions(outside)], [['address'], []]);
});

test('share/explain returns the outcomes at any given time', async (t) => {
  const postern = await startPostern(t);
  const { id } = await postern.call('share/add', newShare({ validityStartDate: '2030-01-01', validityEndDate: '2030-12-31' }));
  const isAllowedAt = async (instant: string) => allowedActions(await postern.call('share/explain', { id, at: instant })).length > 0;
  assert.deepEqual(
    [
      await isAllowedAt('2029-12-31T23:59:59.999Z'),
      await isAllowedAt('2030-01-01'),
      await isAllowedAt('2030-12-31T23:59:59.999Z'),
      await isAllowedAt('2031-01-01T00:00:00Z'),
    ],
    [false, true, true, false],
  );
});

test('share/explain returns the outcomes for any access user, and for an anonymous visitor', async (t) => {
  const postern = await startPostern(t);
  const profile = await createUsersProfile(postern, ['ann', 'bob']);
  const { id } = await postern.call('share/add', newShare({ authenticationId: profile.id, allowAllUsers: false, userNames: 'ann' }));
  const mayDownload = async (who: object) =>
    allowedActions(await postern.call('share/explain', { id, action: 'download', ...who })).includes('download');
  assert.equal(await mayDownload({}), false);
  assert.equal(await mayDownload({ username: 'ANN' }), true);
  assert.equal(await mayDownload({ email: 'ann@example.com' }), true);
  assert.equal(await mayDownload({ username: 'bob' }), false);
  await postern.call('accessuser/update', { id: profile.users['ann'], authId: profile.id, active: false });
  assert.equal(await mayDownload({ username: 'ann' }), false);
});

test('share/explain admits a visitor of an OpenID provider if the request names a group that the share lists', async (t) => {
  const postern = await startPostern(t);
  const { id: authenticationId } = await postern.call('loginprofile/add', {
    typeId: 5,
    configuration: JSON.stringify({ issuer: 'https://id.example.com', clientId: 'a', clientSecret: 'b' }),
  });
  const { id } = await postern.call('share/add', newShare({ authenticationId, allowAllUsers: false, groupNames: '"Sales, EU"' }));
  const mayDownload = async (who: object) => allowedActions(await postern.call('share/explain', { id, ...who })).includes('download');
  assert.equal(await mayDownload({ email: 'x@example.com', groupNames: 'staff,"sales, eu"' }), true);
  assert.equal(await mayDownload({ email: 'x@example.com', groupNames: 'staff' }), false);
});

test('share/explain names the invalid field when it refuses a request, and changes nothing', async (t) => {
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
    assert.deepEqual(fieldErrorsOf(await postern.send('share/explain', { id, [field]: value })), [field]);
  await postern.call('share/explain', { id, action: 'delete' });
  assert.equal(JSON.stringify([await postern.call('share/search'), (await postern.call('audit/search')).totalCount]), before);
});

test('share/explain reads only one user if several users have the given e-mail address', async (t) => {
  const postern = await startPostern(t);
  const { id: authId } = await postern.call('loginprofile/add', { title: 'Clients', typeId: 3 });
  const users = ['ann', 'bob', 'cem'].map((username) => ({ username, active: true, email: 'team@example.com' }));
  await postern.call('accessuser/addMany', { authId, users });
  const { id } = await postern.call('share/add', newShare({ authenticationId: authId }));
  const rowCounts: number[] = [];
  const rowCounter: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      rowCounts.push(result.rows.length);
      return result;
    },
  };
  const { store } = postern.ports;
  Object.assign(store, { search: store.search.withPlugin(rowCounter) });
  const { rules } = await postern.call('share/explain', { id, email: 'team@example.com' }, { method: 'POST' });
  assert.ok(rules.length > 0);
  assert.deepEqual(rowCounts, [1]);
});

test('for a profile that sends codes, share/explain finds a user by name or e-mail address, and refuses an inactive user', async (t) => {
  const postern = await startPostern(t);
  const profile = await postern.call('loginprofile/add', { title: 'Codes', typeId: 4, configuration: '{"allow":["*@example.com"]}' });
  const add = (username: string, active: boolean) =>
    postern.call('accessuser/add', { username, active, authId: profile.id, email: `${username}@example.com` });
  await add('ann', true);
  await add('bob', false);
  const shareFields = { authenticationId: profile.id, allowAllUsers: false, userNames: 'ann, bob@example.com, cem@example.com' };
  const { id } = await postern.call('share/add', newShare(shareFields));
  const mayDownload = async (visitor: object) =>
    (await postern.call('share/explain', { id, ...visitor }, { method: 'POST' })).outcomes.find(
      ({ action }: { action: string }) => action === 'download',
    ).allowed;
  assert.equal(await mayDownload({ email: 'ann@example.com' }), true);
  assert.equal(await mayDownload({ username: 'ann' }), true);
  assert.equal(await mayDownload({ email: 'bob@example.com' }), false);
  assert.equal(await mayDownload({ email: 'cem@example.com' }), true);
  assert.equal(await mayDownload({ username: 'cem' }), false);
  const { id: openId } = await postern.call('share/add', newShare({ authenticationId: profile.id }));
  assert.equal(await mayDownload({ id: openId, email: 'dan@example.com' }), true);
  assert.equal(await mayDownload({ id: openId, email: 'dan@example.net' }), false, 'the profile sends no code to this address');
});

test('share/explain says that users with the same e-mail address cannot sign in with a code', async (t) => {
  const postern = await startPostern(t);
  const profile = await postern.call('loginprofile/add', { title: 'Codes', typeId: 4, configuration: '{}' });
  for (const username of ['ann', 'bob', 'cem'])
    await postern.call('accessuser/add', { username, active: true, authId: profile.id, email: `${username}@example.com` });
  const email = 'ann@example.com';
  // An earlier version accepted the same address for two users.
  await postern.ports.store.write(
    (tx) => tx.updateTable('access_user').set({ email, email_key: email }).where('username', '=', 'bob').execute(),
    'job',
  );
  const { id } = await postern.call('share/add', newShare({ authenticationId: profile.id }));
  const mayDownload = async (visitor: object) =>
    allowedActions(await postern.call('share/explain', { id, ...visitor })).includes('download');
  assert.deepEqual(
    [await mayDownload({ email }), await mayDownload({ username: 'ann' }), await mayDownload({ username: 'cem' })],
    [false, false, true],
  );
});
