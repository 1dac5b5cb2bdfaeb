import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingForActiveDirectory, startActiveDirectory } from '../parts/debian-active-directory.ts';
import { cookieOf, startPostern } from '../start.ts';
import { createShare, jsonPostRequest, minute, settableClock } from '../visit/visiting.ts';

const missing = missingForActiveDirectory();
const options = { skip: missing === '' ? false : `not installed: ${missing}` };

test('visitors sign in with Active Directory (Samba), until they are disabled there', options, async (t) => {
  const directory = await startActiveDirectory(t);
  const clock = settableClock();
  const postern = await startPostern(t, { environment: { POSTERN_PRIVATE_TARGETS: '127.0.0.1' }, replacements: { ports: { clock } } });
  async function profileWith(change: object) {
    const configuration = JSON.stringify({ ...directory.configuration, ...change });
    const { id } = await postern.call('loginprofile/add', { title: 'Staff', typeId: 7, configuration });
    const { base } = await createShare(postern, { authenticationId: id });
    return {
      id,
      base,
      signIn: (username: string, password: string) => postern.visit(`${base}/sign-in`, jsonPostRequest({ username, password })),
    };
  }
  const list = async (cookie: string, base: string) => (await postern.visit(`${base}/list`, { headers: { cookie } })).status;
  const bySearch = await profileWith({});

  await t.test('a visitor who signs in by account name and then by user principal name is the same visitor', async () => {
    const answers = [await bySearch.signIn('ann', 'Ann-Secret-1'), await bySearch.signIn('ann@rig.test', 'Ann-Secret-1')];
    for (const { status, body } of answers)
      assert.deepEqual([status, body.visitor], [200, { name: 'Ann Archer', email: 'ann@example.com' }]);
    const rows = await postern.ports.store.read.selectFrom('visit_session').select('identity').execute();
    assert.equal(new Set(rows.map(({ identity }) => JSON.parse(identity ?? '').subject)).size, 1);
  });

  await t.test('a visitor with a wrong password or a disabled account cannot sign in', async () => {
    assert.equal((await bySearch.signIn('ann', 'Gone-Secret-1')).status, 401);
    assert.equal((await bySearch.signIn('gone', 'Gone-Secret-1')).status, 401);
  });

  await t.test('a share that lists a group admits the members of groups nested in it, unless nestedGroups is false', async () => {
    const { base } = await createShare(postern, { authenticationId: bySearch.id, allowAllUsers: false, groupNames: 'staff' });
    assert.equal(await list(cookieOf(await bySearch.signIn('ann', 'Ann-Secret-1')), base), 200);
    const withoutNested = await profileWith({ nestedGroups: false });
    const directShare = await createShare(postern, { authenticationId: withoutNested.id, allowAllUsers: false, groupNames: 'staff' });
    assert.equal(await list(cookieOf(await withoutNested.signIn('ann', 'Ann-Secret-1')), directShare.base), 403);
  });

  await t.test('with bindPattern, a visitor signs in although Postern has no account for searches', async () => {
    const without = { bindDn: undefined, bindPassword: undefined, userFilter: undefined };
    const byPattern = await profileWith({ ...without, bindPattern: '{username}@rig.test' });
    assert.equal((await byPattern.signIn('ann', 'Ann-Secret-1')).status, 200);
    assert.equal((await byPattern.signIn('ann', 'wrong')).status, 401);
  });

  await t.test('a user who is disabled loses access after ten minutes', async () => {
    const cookie = cookieOf(await bySearch.signIn('ann', 'Ann-Secret-1'));
    directory.manage('user', 'disable', 'ann');
    clock.advance(9 * minute);
    assert.equal(await list(cookie, bySearch.base), 200);
    clock.advance(2 * minute);
    assert.equal(await list(cookie, bySearch.base), 401);
  });
});
