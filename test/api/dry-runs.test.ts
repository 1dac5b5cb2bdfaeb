import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isChange } from '../../src/features/operation.ts';
import { operations } from '../../src/features/operations.ts';
import { certificateFile, certificatePassword } from '../parts/stored-certificate.ts';
import { until } from '../ports/until.ts';
import { mailSettings, newShare, startPostern } from '../start.ts';
import { createRecords, ifMatch, newPassword } from './versioned-records.ts';

/** A key cannot call these operations. `second-factors.test.ts` does a dry run of one of them. */
const operatorOnly = ['operator/addTotp', 'operator/addPasskey', 'operator/deleteSecondFactor', 'operator/renewRecoveryCodes'];

test('a dry run returns success with dryRun and without the fields of new records, and changes nothing', async (t) => {
  const postern = await startPostern(t, { environment: mailSettings });
  const { share, profile, user } = await createRecords(postern);
  const state = async () =>
    JSON.stringify([
      await postern.call('share/search'),
      await postern.call('loginprofile/search'),
      await postern.call('accessuser/search'),
      await postern.call('apikey/search'),
      // A job counts the used space in the background.
      (await postern.call('location/search')).list.map(({ usedBytes, usedFiles, ...location }: Record<string, unknown>) => location),
      await postern.call('operator/search'),
      await postern.call('tenant/search'),
      await postern.call('tenant/getPolicy'),
      await postern.call('signature/get'),
      await postern.call('mail/deliveries'),
    ]);
  const [location] = (await postern.call('location/search')).list;
  const { id: defaultProfile } = await postern.call('loginprofile/get', {});
  const { id: unused } = await postern.call('loginprofile/add', { title: 'Unused', typeId: 1 });
  const { id: key } = await postern.call('apikey/add', { name: 'unused', role: 'reader' });
  const { id: operator } = await postern.call('operator/add', {
    name: 'olga',
    role: 'reader',
    password: 'a long secret of hers',
    confirmPassword: 'a long secret of hers',
  });
  const locationBody = { name: 'dry', kind: 'local', configuration: location.configuration };
  const { id: spare } = await postern.call('location/add', { ...locationBody, name: 'spare' });
  await postern.call('share/invite', { id: share.id, emails: 'gil@example.com' });
  const [mail] = (await postern.call('mail/deliveries')).list;
  await until(async () => {
    await postern.send('mail/drop', { state: 'waiting' }); // no effect while the mail is being sent, so the loop repeats it
    return (await postern.call('mail/deliveries')).list[0].state === 'dropped';
  });
  await postern.call('signature/update', { certificate: certificateFile, password: certificatePassword });
  const before = await state();
  const changes: [string, object][] = [
    ['share/add', newShare()],
    ['share/update', { ...share, title: 'Dry' }],
    ['share/updateSharableLink', { id: share.id }],
    ['share/updateSharableLink', { id: share.id, viewId: 'dry-run-link' }],
    ['share/duplicate', { id: share.id, title: 'Dry' }],
    ['share/delete', { id: share.id }],
    ['share/invite', { id: share.id, emails: 'hal@example.com' }],
    ['mail/retry', { id: mail.id }],
    ['mail/drop', { state: 'failed' }],
    ['accessuser/add', { username: 'dry', active: true }],
    ['accessuser/addMany', { users: [{ username: 'dry', active: true }], authId: profile.id }],
    ['accessuser/update', { id: user.id, authId: defaultProfile }],
    ['accessuser/updateUserPassword', { username: 'ann', ...newPassword }],
    ['accessuser/delete', { id: user.id }],
    ['accessuser/deleteByUsername', { username: 'ann', loginProfileId: profile.id }],
    ['loginprofile/add', { title: 'Dry' }],
    ['loginprofile/update', { id: profile.id, title: 'Dry' }],
    ['loginprofile/updateViewId', { id: profile.id }],
    ['loginprofile/duplicate', { id: profile.id, title: 'Dry' }],
    ['loginprofile/makeDefault', { id: profile.id }],
    ['loginprofile/delete', { id: unused }],
    ['apikey/add', { name: 'dry', role: 'admin' }],
    ['apikey/delete', { id: key }],
    ['operator/add', { name: 'dry', role: 'reader', password: 'a long secret of hers', confirmPassword: 'a long secret of hers' }],
    ['operator/update', { id: operator, role: 'editor' }],
    ['operator/updatePassword', { id: operator, password: 'another long secret', confirmPassword: 'another long secret' }],
    ['operator/resetSecondFactors', { id: operator }],
    ['operator/unlinkProvider', { id: operator }],
    ['operator/delete', { id: operator }],
    ['location/add', locationBody],
    ['location/update', { id: location.id, name: 'dry' }],
    ['location/delete', { id: spare }],
    ['tenant/add', { title: 'Dry' }],
    ['tenant/updatePolicy', { longestValidityDays: 30, signInRequired: true }],
    ['signature/update', { certificate: certificateFile, password: certificatePassword, timestampUrl: 'https://dry.example.com/' }],
    ['signature/delete', {}],
  ];
  const names = new Set(changes.map(([name]) => name));
  assert.deepEqual(
    [...names].sort(),
    operations
      .filter(isChange)
      .map(({ name }) => name)
      .filter((name) => !operatorOnly.includes(name))
      .sort(),
  );
  for (const [name, body] of changes) {
    const answer = await postern.call(name, body, { query: { dryRun: 'true' } });
    assert.deepEqual(Object.keys(answer).sort(), ['dryRun', 'message', 'messageId', 'status', 'timestamp'], name);
    assert.deepEqual([answer.dryRun, answer.status], [true, 200]);
  }
  assert.equal(await state(), before);
  assert.equal((await postern.call('audit/search', { searchWord: 'Dry' })).totalCount, 0);
  assert.equal((await postern.send(`loginprofile/get`, {})).body.id, defaultProfile);
});

test('a dry run refuses what the change would refuse', async (t) => {
  const postern = await startPostern(t);
  const { share, profile } = await createRecords(postern);
  const dry = { query: { dryRun: 'true' } };
  assert.equal((await postern.send('share/add', newShare({ location: 'nowhere' }), dry)).status, 400);
  assert.equal((await postern.send('loginprofile/delete', { id: profile.id }, dry)).status, 409);
  assert.equal((await postern.send('accessuser/add', { username: 'ANN', active: true, authId: profile.id }, dry)).status, 409);
  assert.equal((await postern.send('loginprofile/updateViewId', { id: profile.id, viewId: share.viewId }, dry)).status, 409);
  assert.equal((await postern.send('share/delete', { id: share.id }, { ...dry, ...ifMatch('"0"') })).status, 412);
});

test('dryRun=false makes the change, and values other than true and false are refused', async (t) => {
  const postern = await startPostern(t);
  const { id } = await postern.call('loginprofile/add', {}, { query: { dryRun: 'false' } });
  assert.equal(typeof id, 'number');
  for (const value of ['1', 'yes', 'TRUE', ''])
    assert.equal((await postern.send('loginprofile/add', {}, { query: { dryRun: value } })).status, 400, value);
});
