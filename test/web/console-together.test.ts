import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { newShare, type TestPostern, usersProfile } from '../start.ts';
import { listSays, password, signedIn, signIn } from './console.ts';

const changeShare = async (postern: TestPostern, id: number, over: object) =>
  postern.call('share/update', { ...(await postern.call('share/get', { id })), ...over });

test('what another operator takes away stays away, though the page has seen the newer version meanwhile', async (t) => {
  const { postern, page, go } = await signedIn(t);
  const { id } = await postern.call('share/add', newShare({ title: 'Reports', canDelete: true }));
  await go(`/shares/${id}`);
  await page.getByLabel('Title').fill('Reports of 2026');
  await changeShare(postern, id, { canDelete: false });
  const asked = page.waitForResponse(/share\/get/);
  await page.getByRole('button', { name: 'Actions' }).click();
  await page.getByRole('menuitem', { name: 'Deactivate' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click();
  await asked;
  await page.getByText('1 share deactivated.').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('changed this record after you opened it').waitFor();
  await page.getByRole('button', { name: 'Keep both changes' }).click();
  await page.getByText('Changes: title.').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Reports of 2026' }).waitFor();
  const share = await postern.call('share/get', { id });
  assert.deepEqual([share.canDelete, share.active, share.title], [false, false, 'Reports of 2026']);
});

test('switching off a share from an old list changes nothing else of it', async (t) => {
  const { postern, page, go } = await signedIn(t);
  const profile = await usersProfile(postern, ['ann', 'bob']);
  const named = { authenticationId: profile.id, allowAllUsers: false };
  const { id } = await postern.call('share/add', newShare({ title: 'Reports', ...named, userNames: 'ann, bob' }));
  await go('/shares');
  await page.getByLabel('Select Reports').check();
  await changeShare(postern, id, { userNames: 'ann' });
  await page.getByLabel('Bulk actions').getByRole('button', { name: 'Deactivate' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click();
  await page.getByText('1 share deactivated.').waitFor();
  const share = await postern.call('share/get', { id });
  assert.deepEqual([share.active, share.userNames], [false, 'ann']);
});

test('what was typed and left comes back on top of what others have saved since', async (t) => {
  const { postern, page, go } = await signedIn(t);
  const { id } = await postern.call('share/add', newShare({ title: 'Reports' }));
  await go(`/shares/${id}`);
  await page.getByLabel('Description').fill('Not saved');
  await page.getByRole('link', { name: 'Access users' }).first().click();
  await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
  await changeShare(postern, id, { title: 'Theirs' });
  await go(`/shares/${id}`);
  await page.getByText('Draft restored').waitFor();
  await page.getByText('Changes: description.').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved. The change applies from now on.').waitFor();
  const share = await postern.call('share/get', { id });
  assert.deepEqual([share.title, share.description], ['Theirs', 'Not saved']);
});

test('no password stays in the browser, and nothing at all for the next operator', async (t) => {
  const { postern, page, go } = await signedIn(t);
  await postern.call('operator/add', { name: 'Rita', role: 'admin', password, confirmPassword: password });
  await go('/profiles/new');
  await page.getByLabel('Title').fill('Half done');
  await page.getByRole('radio', { name: 'One password', exact: true }).click();
  await page.getByLabel('Password', { exact: true }).fill('profile-secret-77');
  const kept = () => page.evaluate('JSON.stringify({ ...sessionStorage })');
  assert.match(String(await kept()), /Half done/);
  assert.doesNotMatch(String(await kept()), /secret-77/);
  await page.getByRole('button', { name: 'Olga' }).click();
  page.once('dialog', (dialog) => void dialog.accept());
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in to Postern' }).waitFor();
  assert.doesNotMatch(String(await kept()), /Half done/);
  await signIn(page, 'Rita');
  await page.getByText('Good to see you').waitFor();
  await go('/profiles/new');
  assert.equal(await page.getByLabel('Title').inputValue(), '');
});

test('what could not be taken back is not told as taken back', async (t) => {
  const { postern, page, go } = await signedIn(t);
  await usersProfile(postern, ['ann']);
  await go('/users');
  await page.getByLabel('Select ann').check();
  await page.getByLabel('Bulk actions').getByRole('button', { name: 'Deactivate' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click();
  await page.getByText('1 user deactivated.').waitFor();
  const [ann] = (await postern.call('accessuser/search')).list;
  await postern.call('accessuser/delete', { id: ann.id });
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText(/The change could not be undone/).waitFor();
});

test('a double click in the picker goes one folder down, and the keyboard comes along', async (t) => {
  const { postern, page, go } = await signedIn(t);
  await mkdir(join(postern.files, 'reports/reports'), { recursive: true });
  await writeFile(join(postern.files, 'reports/annual.txt'), 'text');
  await go('/shares/new');
  await page.getByRole('button', { name: 'Browse files' }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /reports/ })
    .click({ clickCount: 2, delay: 1 });
  await page
    .getByRole('dialog')
    .getByText(/annual.txt|This folder is empty/)
    .first()
    .waitFor();
  assert.equal(await page.getByRole('dialog').getByRole('alert').count(), 0);
});

test('a file whose path is typed is shared as the file it is', async (t) => {
  const { postern, page, go } = await signedIn(t);
  await go('/shares/new');
  await page.getByLabel('File or folder').fill('/welcome.txt');
  await page.getByLabel('Title').fill('Welcome');
  await page.getByRole('button', { name: 'Create share' }).click();
  await page.getByText('The link is ready').waitFor();
  assert.equal((await postern.call('share/search')).list[0].folder, false);
});

test('whoever may only look is shown the fields, and no way to change them', async (t) => {
  const { postern, page, go } = await signedIn(t, undefined, 'reader');
  const { users } = await usersProfile(postern, ['ann']);
  await go(`/users/${users['ann']}`);
  await page.getByLabel('E-mail').waitFor();
  assert.ok(await page.getByLabel('E-mail').isDisabled());
  assert.equal(await page.getByRole('button', { name: 'Save' }).count(), 0);
  await go('/users/new');
  await page.getByText('This page needs the role editor').waitFor();
});

test('after the last rows of the last page are gone the list shows the page before', async (t) => {
  const { postern, page, go } = await signedIn(t);
  for (let index = 0; index < 51; index += 1) await postern.call('share/add', newShare({ title: `Share ${index + 1}` }));
  await go('/shares?page=2');
  await page.getByLabel('Select Share 51').check();
  await page.getByLabel('Bulk actions').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await listSays(page, '50 shares');
  await page.getByRole('link', { name: 'Share 50' }).waitFor();
});

test('a login profile that would open its shares to everyone asks first', async (t) => {
  const { postern, page, go } = await signedIn(t);
  const { id } = await postern.call('loginprofile/add', { title: 'Clients', typeId: 3 });
  await postern.call('share/add', newShare({ authenticationId: id }));
  await go(`/profiles/${id}`);
  await page.getByRole('radio', { name: 'No sign-in', exact: true }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Anyone with the link will be able to open 1 share without signing in.').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  assert.equal((await postern.call('loginprofile/get', { id })).typeId, 3);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save anyway' }).click();
  await page.getByText('Saved. The change applies from now on.').waitFor();
  assert.equal((await postern.call('loginprofile/get', { id })).typeId, 1);
});

test('a fault of a profile’s settings is shown where it was typed', async (t) => {
  const { postern, page, go } = await signedIn(t);
  const configuration = JSON.stringify({ issuer: 'https://login.example.com', clientId: 'postern', clientSecret: 'secret' });
  const { id } = await postern.call('loginprofile/add', { title: 'Staff', typeId: 5, configuration });
  await go(`/profiles/${id}`);
  await page.getByLabel('Issuer').fill('not an address');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Must begin with http:// or https://, and name a host.').waitFor();
  assert.equal(await page.getByLabel('Issuer').getAttribute('aria-invalid'), 'true');
});
