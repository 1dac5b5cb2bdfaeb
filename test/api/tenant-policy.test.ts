import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createUsersProfile, newShare, startPostern } from '../start.ts';
import { fieldErrorsOf } from './field-errors.ts';

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

test('a tenant without a policy has no restrictions; an update keeps absent fields, and null or false clears a field', async (t) => {
  const postern = await startPostern(t);
  const emptyPolicy = {
    longestValidityDays: null,
    signInRequired: false,
    secondFactorRequired: false,
    defaultPermissions: '',
    outsideCount: 0,
  };
  assert.deepEqual(await postern.call('tenant/getPolicy'), emptyPolicy);
  await postern.call('tenant/updatePolicy', { longestValidityDays: 30, defaultPermissions: 'canDownload, canView' });
  await postern.call('tenant/updatePolicy', { signInRequired: true });
  const policy = await postern.call('tenant/getPolicy');
  assert.deepEqual([policy.longestValidityDays, policy.signInRequired, policy.defaultPermissions], [30, true, 'canView, canDownload']);
  await postern.call('tenant/updatePolicy', { longestValidityDays: null, signInRequired: false, defaultPermissions: null });
  assert.deepEqual(await postern.call('tenant/getPolicy'), emptyPolicy);
});

test('with longestValidityDays set, an active share must not be valid for longer, and an inactive share is checked when it is activated', async (t) => {
  const postern = await startPostern(t);
  const inactive = await postern.call('share/add', newShare({ active: false }));
  await postern.call('tenant/updatePolicy', { longestValidityDays: 30 });
  for (const over of [{}, { validityEndDate: inDays(31) }]) {
    const answer = await postern.send('share/add', newShare(over));
    assert.deepEqual([answer.status, fieldErrorsOf(answer)], [400, ['validityEndDate']]);
  }
  const { id } = await postern.call('share/add', newShare({ validityEndDate: inDays(29) }));
  const { location: _, path: __, ...change } = newShare({ id, validityEndDate: inDays(100) });
  assert.deepEqual(fieldErrorsOf(await postern.send('share/update', change)), ['validityEndDate']);
  await postern.call('share/update', { ...change, active: false }, {});
  assert.deepEqual(fieldErrorsOf(await postern.send('share/update', { ...change, active: true })), ['validityEndDate']);
  assert.deepEqual(fieldErrorsOf(await postern.send('share/update', { ...change, id: inactive.id, validityEndDate: null })), [
    'validityEndDate',
  ]);
  await postern.call('share/duplicate', { id, title: 'Copy of a share that is not active' });
});

test('if the policy requires sign-in, no change can produce an active share without sign-in', async (t) => {
  const postern = await startPostern(t);
  const { id: users } = await createUsersProfile(postern);
  const share = await postern.call('share/add', newShare({ authenticationId: users }));
  await postern.call('tenant/updatePolicy', { signInRequired: true });
  assert.deepEqual(fieldErrorsOf(await postern.send('share/add', newShare())), ['authenticationId']);
  const { location: _, path: __, ...change } = newShare({ id: share.id });
  assert.deepEqual(fieldErrorsOf(await postern.send('share/update', change)), ['authenticationId']);
  const typeChange = await postern.send('loginprofile/update', { id: users, typeId: 1 });
  assert.deepEqual([typeChange.status, fieldErrorsOf(typeChange)], [400, ['typeId']]);
  await postern.call('share/add', newShare({ linkPassword: 'correct horse battery' }));
});

test('shares that violate a new policy keep working, are counted, and can be deactivated', async (t) => {
  const postern = await startPostern(t);
  const { id, viewId } = await postern.call('share/add', newShare());
  await postern.call('share/add', newShare({ validityEndDate: inDays(400) }));
  await postern.call('share/add', newShare({ validityEndDate: inDays(20) }));
  await postern.call('share/add', newShare({ validityStartDate: inDays(390), validityEndDate: inDays(400) }));
  await postern.call('share/add', newShare({ active: false }));
  await postern.call('tenant/updatePolicy', { longestValidityDays: 30 });
  assert.equal((await postern.call('tenant/getPolicy')).outsideCount, 2);
  assert.equal((await postern.visit(`/s/${viewId}/visit`)).status, 200);
  const { location: _, path: __, ...change } = newShare({ id, active: false });
  await postern.call('share/update', change);
});

test('a policy applies to one tenant, only admins change it, editors can read it, and invalid values are refused', async (t) => {
  const postern = await startPostern(t);
  const { id: tid } = await postern.call('tenant/add', { title: 'Second' });
  const { key } = await postern.call('apikey/add', { name: 'admin', role: 'admin', tid });
  await postern.call('tenant/updatePolicy', { signInRequired: true }, { key });
  await postern.call('share/add', newShare());
  const { key: editor } = await postern.call('apikey/add', { name: 'editor', role: 'editor' });
  assert.equal((await postern.send('tenant/updatePolicy', { signInRequired: true }, { key: editor })).status, 403);
  assert.equal((await postern.send('tenant/getPolicy', {}, { key: editor })).status, 200);
  for (const [field, value] of [
    ['longestValidityDays', 0],
    ['defaultPermissions', 'canView, canFly'],
  ] as const)
    assert.deepEqual(fieldErrorsOf(await postern.send('tenant/updatePolicy', { [field]: value })), [field]);
});
