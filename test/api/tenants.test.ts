import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations } from '../../src/features/operations.ts';
import { adminKey, createUsersProfile, mailSettings, newShare, startPostern, type TestPostern } from '../start.ts';
import { fieldErrorsOf } from './field-errors.ts';
import { addTenant } from './keys.ts';

async function addRecords(postern: TestPostern) {
  const profile = await createUsersProfile(postern, ['ann']);
  const { id: share } = await postern.call('share/add', newShare({ authenticationId: profile.id }));
  const { id: key } = await postern.call('apikey/add', { name: 'ours', role: 'reader' });
  const { id: operator } = await postern.call('operator/add', {
    name: 'olga',
    role: 'reader',
    password: 'a long secret of hers',
    confirmPassword: 'a long secret of hers',
  });
  const [location] = (await postern.call('location/search')).list;
  await postern.call('share/invite', { id: share, emails: 'gil@example.com' });
  const [mail] = (await postern.call('mail/deliveries')).list;
  return { share, profile: profile.id, user: Number(profile.users['ann']), key, operator, location: location.id, mail: mail.id };
}

test('operations that take an id return the same 404 for a record of another tenant as for one that does not exist', async (t) => {
  const postern = await startPostern(t, { environment: mailSettings });
  const { share, profile, user, key, operator, location, mail } = await addRecords(postern);
  const otherTenant = await addTenant(postern);
  const { id: _, location: _l, path: _p, tid: _t, viewId: _v, ...fields } = await postern.call('share/get', { id: share });
  const calls: [string, number, (id: number) => object][] = [
    ['share/get', share, (id) => ({ id })],
    ['share/update', share, (id) => ({ ...fields, id, authenticationId: 2 })],
    ['share/updateSharableLink', share, (id) => ({ id })],
    ['share/duplicate', share, (id) => ({ id, title: 'Mine' })],
    ['share/delete', share, (id) => ({ id })],
    ['share/explain', share, (id) => ({ id })],
    ['share/invite', share, (id) => ({ id })],
    ['share/previewInvitation', share, (id) => ({ id })],
    ['mail/retry', mail, (id) => ({ id })],
    ['mail/drop', mail, (id) => ({ id })],
    ['share/activity', share, (id) => ({ id })],
    ['share/unfinishedUploads', share, (id) => ({ id })],
    ['accessuser/get', user, (id) => ({ id })],
    ['accessuser/update', user, (id) => ({ id, authId: profile })],
    ['accessuser/delete', user, (id) => ({ id })],
    ['loginprofile/get', profile, (id) => ({ id })],
    ['loginprofile/update', profile, (id) => ({ id, title: 'Mine' })],
    ['loginprofile/updateViewId', profile, (id) => ({ id })],
    ['loginprofile/duplicate', profile, (id) => ({ id })],
    ['loginprofile/testSignIn', profile, (id) => ({ id })],
    ['loginprofile/delete', profile, (id) => ({ id })],
    ['loginprofile/makeDefault', profile, (id) => ({ id })],
    ['apikey/delete', key, (id) => ({ id })],
    ['operator/update', operator, (id) => ({ id, role: 'editor' })],
    ['operator/updatePassword', operator, (id) => ({ id, password: 'another long secret', confirmPassword: 'another long secret' })],
    ['operator/resetSecondFactors', operator, (id) => ({ id })],
    ['operator/unlinkProvider', operator, (id) => ({ id })],
    ['operator/delete', operator, (id) => ({ id })],
    ['location/get', location, (id) => ({ id })],
    ['location/update', location, (id) => ({ id, name: 'mine' })],
    ['location/delete', location, (id) => ({ id })],
    ['location/test', location, (id) => ({ id })],
    ['loginprofile/test', profile, (id) => ({ id, username: 'ann', password: 'correct horse battery' })],
  ];
  const operationsWithId = operations
    .filter(({ body }) => 'id' in Object(Reflect.get(body, 'properties')))
    .filter(({ name }) => name !== 'operator/deleteSecondFactor'); // no key may call it: see `second-factors.test.ts`
  assert.deepEqual(calls.map(([name]) => name).sort(), operationsWithId.map(({ name }) => name).sort());
  for (const [name, id, body] of calls) {
    const answerForOtherTenant = await postern.send(name, body(id), { key: otherTenant.key });
    const answerForMissing = await postern.send(name, body(987_654), { key: otherTenant.key });
    assert.equal(answerForOtherTenant.status, 404, name);
    const withoutTimestamp = ({ timestamp: _, ...rest }: Record<string, unknown>) => rest;
    assert.deepEqual(withoutTimestamp(answerForOtherTenant.body), withoutTimestamp(answerForMissing.body), name);
  }
  const deletionByName = await postern.send(
    'accessuser/deleteByUsername',
    { username: 'ann', loginProfileId: profile },
    { key: otherTenant.key },
  );
  assert.ok([400, 404].includes(deletionByName.status));
  assert.equal((await postern.call('accessuser/search', { searchWord: 'ann' })).totalCount, 1);
});

test('a reference to a record of another tenant, or to one that does not exist, returns 400, and the error names the field', async (t) => {
  const postern = await startPostern(t, { environment: mailSettings });
  const { profile } = await addRecords(postern);
  const otherTenant = await addTenant(postern);
  for (const id of [profile, 987_654]) {
    const user = await postern.send('accessuser/add', { username: 'eve', active: true, authId: id }, { key: otherTenant.key });
    assert.deepEqual([user.status, fieldErrorsOf(user)], [400, ['authId']]);
    const share = await postern.send('share/add', newShare({ authenticationId: id }), { key: otherTenant.key });
    assert.equal(share.status, 400);
    assert.ok(fieldErrorsOf(share).includes('authenticationId'), `authenticationId ${id}`);
  }
});

test('a caller cannot set the password of a user of another tenant, and the error names authId', async (t) => {
  const postern = await startPostern(t, { environment: mailSettings });
  const { profile } = await addRecords(postern);
  const otherTenant = await addTenant(postern);
  for (const id of [profile, 987_654]) {
    const password = await postern.send(
      'accessuser/updateUserPassword',
      { username: 'ann', userPassword: 'long enough, surely', confirmPassword: 'long enough, surely', authId: id },
      { key: otherTenant.key },
    );
    assert.deepEqual([password.status, fieldErrorsOf(password)], [400, ['authId']]);
  }
});

test("no search finds another tenant's records", async (t) => {
  const postern = await startPostern(t, { environment: mailSettings });
  const { profile, share } = await addRecords(postern);
  const { key } = await addTenant(postern);
  for (const [name, body, expectedCount] of [
    ['share/search', {}, 0],
    ['share/search', { authId: profile }, 0],
    ['accessuser/search', {}, 0],
    ['accessuser/search', { authId: profile }, 0],
    ['loginprofile/search', {}, 1],
    ['location/search', {}, 0],
    ['apikey/search', {}, 1],
    ['operator/search', {}, 0],
    ['mail/deliveries', {}, 0],
    ['audit/search', { shareId: share }, 0],
  ] as const)
    assert.equal((await postern.call(name, body, { key })).totalCount, expectedCount, `${name} ${JSON.stringify(body)}`);
});

test('a new tenant has its own default login profile and no location', async (t) => {
  const postern = await startPostern(t, { environment: mailSettings });
  const { key, tid } = await addTenant(postern);
  const profile = await postern.call('loginprofile/get', {}, { key });
  assert.equal(profile.tid, tid);
  assert.notEqual(profile.id, 1);
  assert.deepEqual(fieldErrorsOf(await postern.send('share/add', newShare({ authenticationId: profile.id }), { key })), ['location']);
});

test('only an admin of tenant 1 can add tenants, list them, or use another tid', async (t) => {
  const postern = await startPostern(t, { environment: mailSettings });
  const { key, tid } = await addTenant(postern);
  assert.equal((await postern.send('tenant/add', { title: 'Third' }, { key })).status, 403);
  assert.equal((await postern.send('tenant/search', {}, { key })).status, 403);
  assert.equal((await postern.send('apikey/add', { name: 'x', role: 'admin', tid: 1 }, { key })).status, 403);
  assert.equal((await postern.send('apikey/add', { name: 'x', role: 'admin', tid }, { key })).status, 200);
  assert.equal((await postern.call('tenant/search')).totalCount, 2);
  assert.deepEqual(fieldErrorsOf(await postern.send('apikey/add', { name: 'x', role: 'admin', tid: 99 })), ['tid']);
});

test('a tenant cannot add a local location that contains the files of another tenant', async (t) => {
  const postern = await startPostern(t, { environment: mailSettings });
  const { key } = await addTenant(postern);
  const answer = await postern.send(
    'location/add',
    { name: 'grab', kind: 'local', configuration: JSON.stringify({ folder: postern.files }) },
    { key },
  );
  assert.equal(answer.status, 400);
  assert.deepEqual(fieldErrorsOf(answer), ['configuration']);
});

test('two tenants can use the same key name and the same user name', async (t) => {
  const postern = await startPostern(t, { environment: mailSettings });
  const { key } = await addTenant(postern);
  await postern.call('accessuser/add', { username: 'ann', active: true });
  await postern.call('accessuser/add', { username: 'ann', active: true }, { key });
  await postern.call('apikey/add', { name: 'theirs', role: 'reader' });
  assert.equal((await postern.call('accessuser/search', { searchWord: 'ann' }, { key })).totalCount, 1);
});

test('a viewId is unique across tenants, and stays reserved for the tenant that used it', async (t) => {
  const postern = await startPostern(t, { environment: mailSettings });
  const { key } = await addTenant(postern);
  const { id } = await postern.call('loginprofile/add', { title: 'Clients' });
  const { id: theirId } = await postern.call('loginprofile/add', { title: 'Clients' }, { key });
  await postern.call('loginprofile/updateViewId', { id, viewId: 'our-clients' });
  assert.equal((await postern.send('loginprofile/updateViewId', { id: theirId, viewId: 'OUR-clients' }, { key })).status, 409);
  await postern.call('loginprofile/updateViewId', { id, viewId: 'our-customers' });
  assert.equal((await postern.send('loginprofile/updateViewId', { id: theirId, viewId: 'our-clients' }, { key })).status, 409);
  assert.equal((await postern.send('loginprofile/updateViewId', { id, viewId: 'our-clients' })).status, 200);
});

test('in a tenant other than tenant 1, a key with the name environment can be deleted like any other key', async (t) => {
  const postern = await startPostern(t, { environment: mailSettings });
  const { id: tid } = await postern.call('tenant/add', { title: 'Second' });
  const { key } = await postern.call('apikey/add', { name: 'admin', role: 'admin', tid });
  const { id } = await postern.call('apikey/add', { name: 'environment', role: 'reader' }, { key });
  await postern.call('apikey/delete', { id }, { key });
});

test('an admin of tenant 1 can read /metrics, and an admin of another tenant cannot', async (t) => {
  const postern = await startPostern(t, { environment: mailSettings });
  const { id: tid } = await postern.call('tenant/add', { title: 'Second' });
  const { key } = await postern.call('apikey/add', { name: 'admin', role: 'admin', tid });
  const metricsStatus = async (secret: string) =>
    (await postern.visit('/metrics', { headers: { authorization: `Bearer ${secret}` } })).status;
  assert.deepEqual([await metricsStatus(key), await metricsStatus(adminKey)], [403, 200]);
});
