import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createUsersProfile, newShare, type TestPostern } from '../start.ts';
import { openSignedInConsole, operatorPassword, signIn, waitForCount } from './console.ts';

const changeShare = async (postern: TestPostern, id: number, over: object) =>
  postern.call('share/update', { ...(await postern.call('share/get', { id })), ...over });

test('a permission that someone else removed stays removed, even if the page has loaded the newer version', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  const { id } = await postern.call('share/add', newShare({ title: 'Reports', canDelete: true }));
  await go(`/shares/${id}`);
  await page.getByLabel('Title').fill('Reports of 2026');
  await changeShare(postern, id, { canDelete: false });
  const shareResponse = page.waitForResponse(/share\/get/);
  await page.getByRole('button', { name: 'Actions' }).click();
  await page.getByRole('menuitem', { name: 'Deactivate' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click();
  await shareResponse;
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

test('deactivating a share from an outdated list changes no other field of it', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  const profile = await createUsersProfile(postern, ['ann', 'bob']);
  const listFields = { authenticationId: profile.id, allowAllUsers: false };
  const { id } = await postern.call('share/add', newShare({ title: 'Reports', ...listFields, userNames: 'ann, bob' }));
  await go('/shares');
  await page.getByLabel('Select Reports').check();
  await changeShare(postern, id, { userNames: 'ann' });
  await page.getByLabel('Bulk actions').getByRole('button', { name: 'Deactivate' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click();
  await page.getByText('1 share deactivated.').waitFor();
  const share = await postern.call('share/get', { id });
  assert.deepEqual([share.active, share.userNames], [false, 'ann']);
});

test('a restored draft keeps the changes that others have saved to other fields in the meantime', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
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

test('a draft contains no typed password, and sign-out deletes all drafts', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  await postern.call('operator/add', { name: 'Rita', role: 'admin', password: operatorPassword, confirmPassword: operatorPassword });
  await go('/profiles/new');
  await page.getByLabel('Title').fill('Half done');
  await page.getByRole('radio', { name: 'One password', exact: true }).click();
  await page.getByLabel('Password', { exact: true }).fill('profile-secret-77');
  const readDrafts = () => page.evaluate('JSON.stringify({ ...sessionStorage })');
  assert.match(String(await readDrafts()), /Half done/);
  assert.doesNotMatch(String(await readDrafts()), /secret-77/);
  await page.getByRole('button', { name: 'Olga' }).click();
  page.once('dialog', (dialog) => void dialog.accept());
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in to Postern' }).waitFor();
  assert.doesNotMatch(String(await readDrafts()), /Half done/);
  await signIn(page, 'Rita');
  await page.getByText('Signed in as').waitFor();
  await go('/profiles/new');
  assert.equal(await page.getByLabel('Title').inputValue(), '');
});

test('an undo that fails is reported as failed', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  await createUsersProfile(postern, ['ann']);
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

test('a double click on a folder in the picker opens it without an error', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
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

test('a share with the typed path of a file is saved as a file, not as a folder', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  await go('/shares/new');
  await page.getByLabel('File or folder').fill('/welcome.txt');
  await page.getByLabel('Title').fill('Welcome');
  await page.getByRole('button', { name: 'Create share' }).click();
  await page.getByText('The link is ready').waitFor();
  assert.equal((await postern.call('share/search')).list[0].folder, false);
});

test('a reader sees the fields of an access user, but cannot change them', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t, undefined, 'reader');
  const { users } = await createUsersProfile(postern, ['ann']);
  await go(`/users/${users['ann']}`);
  await page.getByLabel('E-mail').waitFor();
  assert.ok(await page.getByLabel('E-mail').isDisabled());
  assert.equal(await page.getByRole('button', { name: 'Save' }).count(), 0);
  await go('/users/new');
  await page.getByText('This page needs the role editor').waitFor();
});

test('after all rows of the last page are deleted, the list shows the previous page', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  for (let index = 0; index < 51; index += 1) await postern.call('share/add', newShare({ title: `Share ${index + 1}` }));
  await go('/shares?page=2');
  await page.getByLabel('Select Share 51').check();
  await page.getByLabel('Bulk actions').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await waitForCount(page, '50 shares');
  await page.getByRole('link', { name: 'Share 50' }).waitFor();
});

test('the console asks for confirmation before a change of a login profile that opens its shares to everyone', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  const { id } = await postern.call('loginprofile/add', { title: 'Clients', typeId: 3 });
  await postern.call('share/add', newShare({ authenticationId: id }));
  await go(`/profiles/${id}`);
  await page.getByRole('radio', { name: 'No sign-in', exact: true }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Anyone with a link will be able to open the active shares of this profile without signing in').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  assert.equal((await postern.call('loginprofile/get', { id })).typeId, 3);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save anyway' }).click();
  await page.getByText('Saved. The change applies from now on.').waitFor();
  assert.equal((await postern.call('loginprofile/get', { id })).typeId, 1);
});

test('an invalid value in the configuration of a login profile is marked at its field', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  const configuration = JSON.stringify({ issuer: 'https://login.example.com', clientId: 'postern', clientSecret: 'secret' });
  const { id } = await postern.call('loginprofile/add', { title: 'Staff', typeId: 5, configuration });
  await go(`/profiles/${id}`);
  await page.getByLabel('Issuer').fill('not an address');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Must begin with http:// or https://, and name a host.').waitFor();
  assert.equal(await page.getByLabel('Issuer').getAttribute('aria-invalid'), 'true');
});

/** Saves the title of a share in the console. The saved version cannot be loaded. */
async function saveWithoutLoading(t: TestContext) {
  const { postern, page, go } = await openSignedInConsole(t);
  const { id } = await postern.call('share/add', newShare({ title: 'Reports' }));
  await go(`/shares/${id}`);
  await page.getByLabel('Title').fill('Reports of 2026');
  await page.route(/share\/get/, (route) => route.abort());
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved, but the saved version could not be loaded.').waitFor();
  return { postern, page, id };
}

test('after a change whose saved version cannot be loaded, the console says that it is saved, and saves the next change', async (t) => {
  const { postern, page, id } = await saveWithoutLoading(t);
  assert.equal(await page.getByText('Changes: title.').count(), 0);
  await page.getByLabel('Description').fill('Final');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The server cannot be reached.').waitFor();
  await page.unroute(/share\/get/);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved. The change applies from now on.').waitFor();
  assert.equal(await page.getByText('changed this record after you opened it').count(), 0);
  const share = await postern.call('share/get', { id });
  assert.deepEqual([share.title, share.description], ['Reports of 2026', 'Final']);
});

test('if the saved version could not be loaded and someone else then changes the record, the next save shows that change and saves nothing', async (t) => {
  const { postern, page, id } = await saveWithoutLoading(t);
  await changeShare(postern, id, { description: 'Theirs' });
  await page.getByLabel('Description').fill('Mine');
  await page.unroute(/share\/get/);
  await page.getByRole('button', { name: 'Save' }).click();
  const conflict = page.getByRole('dialog');
  await conflict.getByText('changed this record after you opened it').waitFor();
  assert.deepEqual(await conflict.getByRole('listitem').allTextContents(), ['description']);
  assert.equal((await postern.call('share/get', { id })).description, 'Theirs');
});
