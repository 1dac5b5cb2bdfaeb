import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newShare } from '../start.ts';
import { assertAccessible, openSignedInConsole } from './console.ts';

test('an editor can set a password for one link in the share form, and visitors can sign in with it', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t, undefined, 'editor');
  await go('/shares/new');
  await page.getByLabel('File or folder').fill('/');
  await page.getByLabel('Title').fill('Reports');
  await page.getByLabel('Sign in with a password for this link').check();
  await page.getByText('Anyone who knows the password of this link').waitFor();
  await page.getByRole('button', { name: 'Create share' }).click();
  await page.getByText('Must be at least 10 characters long.').waitFor();
  await page.getByRole('button', { name: 'Generate' }).click();
  const password = await page.getByLabel('Password for this link', { exact: true }).inputValue();
  assert.match(password, /^\w{4}-\w{4}-\w{4}-\w{4}$/);
  await assertAccessible(page, 'a password for a link');
  await page.getByRole('button', { name: 'Create share' }).click();
  await page.getByText('The link is ready').waitFor();
  const [share] = (await postern.call('share/search')).list;
  const body = JSON.stringify({ password });
  const headers = { 'content-type': 'application/json' };
  assert.equal((await postern.visit(`/s/${share.viewId}/sign-in`, { method: 'POST', headers, body })).status, 200);
});

test('after a policy is saved, the settings show how many shares do not comply, and the form for a new share follows the policy', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  await postern.call('share/add', newShare());
  await go('/settings/policy');
  await page.getByLabel('Maximum validity (days)').fill('30');
  await page.getByRole('switch', { name: 'Visitors must sign in' }).check();
  await page.getByLabel('Upload files', { exact: true }).check();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('1 active share does not comply').waitFor();
  await assertAccessible(page, 'a policy that was saved');
  await go('/shares/new');
  await page.getByText('At most 30 days from now').waitFor();
  assert.equal(await page.getByLabel('Sign in with a password for this link').isChecked(), true);
  await page.getByLabel('File or folder').fill('/');
  await page.getByLabel('Title').fill('Inbox');
  await page.getByRole('button', { name: 'Generate' }).click();
  await page.getByRole('button', { name: 'Create share' }).click();
  await page.getByText('The link is ready').waitFor();
  const { list } = await postern.call('share/search', { sortField: 'id', sortOrder: 'desc' });
  assert.deepEqual([list[0].canUpload, list[0].canView, list[0].authTypeIdStr], [true, false, 'PASSWORD']);
  assert.ok(Date.parse(list[0].validityEndDate) <= Date.now() + 30 * 86_400_000);
});
