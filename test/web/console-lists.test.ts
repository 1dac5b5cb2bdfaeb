import assert from 'node:assert/strict';
import { test } from 'node:test';
import { copyShare } from '../parts/copy-share.ts';
import { createUsersProfile, newShare } from '../start.ts';
import { assertAccessible, openSignedInConsole, rowNames, unexpectedErrors, waitForCount } from './console.ts';

test('the list of shares can be searched, filtered, sorted and paged, and its URL keeps these settings', async (t) => {
  const { postern, page, consoleErrors, go } = await openSignedInConsole(t);
  const expiredShare = { validityEndDate: '2026-01-31' };
  await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      postern.call('share/add', newShare({ title: `Report ${index + 1}`, ...(index < 3 ? expiredShare : {}) })),
    ),
  );
  await go('/shares');
  await waitForCount(page, '60 shares');
  await page.getByRole('button', { name: 'Page 2' }).click();
  await page.getByRole('link', { name: 'Report 60' }).or(page.locator('.records tbody tr').nth(9)).first().waitFor();
  await page.getByRole('searchbox').fill('report 5');
  await waitForCount(page, '11 shares');
  await page.getByRole('button', { name: 'Title' }).click();
  await page.getByRole('columnheader', { name: 'Title' }).and(page.locator('[aria-sort=ascending]')).waitFor();
  await page.getByRole('button', { name: 'Title' }).click();
  await page.getByRole('columnheader', { name: 'Title' }).and(page.locator('[aria-sort=descending]')).waitFor();
  await page.waitForURL(/order=desc/);
  await page.reload();
  await waitForCount(page, '11 shares');
  assert.equal((await rowNames(page))[0], 'Report 59');
  await page.getByRole('searchbox').fill('');
  await waitForCount(page, '60 shares');
  await page
    .getByRole('combobox', { name: 'State' })
    .or(page.getByRole('textbox', { name: 'State' }))
    .click();
  await page.getByRole('option', { name: 'Expired' }).click();
  await waitForCount(page, '3 shares');
  assert.deepEqual((await rowNames(page)).sort(), ['Report 1', 'Report 2', 'Report 3']);
  await page.goBack();
  await waitForCount(page, '60 shares');
  assert.deepEqual(unexpectedErrors(consoleErrors), []);
});

test('on a phone, "Select all on this page" keeps the records that are selected on other pages', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t, { width: 390, dark: false });
  const { id } = await postern.call('share/add', newShare({ title: 'Report' }));
  await copyShare(postern, id, 51);
  await go('/shares?sort=title&order=asc');
  await waitForCount(page, '52 shares');
  await page.getByLabel('Select Report 0000').check();
  await page.getByRole('button', { name: 'Page 2' }).click();
  await page.getByLabel('Select Report 0050').waitFor();
  await page.locator('.phone-tools').getByLabel('Select all on this page').check();
  await page.getByLabel('Bulk actions').getByText('3 selected').waitFor();
  await page.locator('.phone-tools').getByLabel('Select all on this page').uncheck();
  await page.getByLabel('Bulk actions').getByText('1 selected').waitFor();
});

test('several shares can be deactivated, reactivated by undo, given new links and deleted together', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  for (const title of ['One', 'Two', 'Three']) await postern.call('share/add', newShare({ title }));
  const countActiveShares = async () => (await postern.call('share/search', { state: 'active' })).totalCount;
  await go('/shares');
  const selectShares = async () => {
    for (const title of ['One', 'Two']) await page.getByLabel(`Select ${title}`).check();
  };
  const runBulkAction = async (name: string, text: RegExp) => {
    await page.getByLabel('Bulk actions').getByRole('button', { name }).click();
    await page.getByRole('dialog').getByText(text).waitFor();
    await assertAccessible(page, name);
    await page.getByRole('dialog').getByRole('button', { name }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  await selectShares();
  await runBulkAction('Deactivate', /2 shares will be deactivated/);
  await page.getByText('2 shares deactivated.').waitFor();
  assert.equal(await countActiveShares(), 1);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('The change was undone.').waitFor();
  assert.equal(await countActiveShares(), 3);
  const links = async () => (await postern.call('share/search')).list.map(({ viewId }: { viewId: string }) => viewId);
  const before = await links();
  await selectShares();
  await runBulkAction('Replace link', /2 shares will get a new link/);
  await page.getByText('2 shares got a new link.').first().waitFor();
  const after = await links();
  assert.deepEqual(
    before.map((link: string, index: number) => link === after[index]),
    [false, false, true],
  );
  await selectShares();
  await runBulkAction('Delete', /2 shares will be deleted. The files stay/);
  await waitForCount(page, '1 share');
});

test('several shares or access users can be activated together, and several access users can be deleted together', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  const profile = await createUsersProfile(postern, ['ann', 'bob']);
  for (const title of ['One', 'Two']) await postern.call('share/add', newShare({ title, active: false }));
  for (const id of Object.values(profile.users)) await postern.call('accessuser/update', { id, authId: profile.id, active: false });
  const activateAll = async (path: string, text: RegExp) => {
    await go(path);
    await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
    await page.getByLabel('Bulk actions').getByRole('button', { name: 'Activate', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Activate' }).click();
    await page.getByText(text).waitFor();
  };
  await activateAll('/shares?state=inactive', /2 shares activated/);
  assert.equal((await postern.call('share/search', { state: 'active' })).totalCount, 2);
  await activateAll('/users', /2 users activated/);
  assert.equal((await postern.call('accessuser/search', { active: true })).totalCount, 2);
  await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
  await page.getByLabel('Bulk actions').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No access users yet').waitFor();
});

test('the dialog for a bulk deletion says which login profile cannot be deleted, and why', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  const { id: authenticationId } = await postern.call('loginprofile/add', { title: 'Clients', typeId: 3 });
  await postern.call('loginprofile/add', { title: 'Unused', typeId: 3 });
  await postern.call('share/add', newShare({ authenticationId }));
  await go('/profiles');
  await page.getByLabel('Select Clients').check();
  await page.getByLabel('Select Unused').check();
  await page.getByLabel('Bulk actions').getByRole('button', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('1 login profile will be deleted').waitFor();
  await dialog.getByText(/^Clients: /).waitFor();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await waitForCount(page, '2 login profiles');
});

test('access users can be searched, and selected ones can be deactivated', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  await createUsersProfile(postern, ['ann', 'bob', 'carla']);
  await go('/users');
  await waitForCount(page, '3 users');
  await page.getByRole('searchbox').fill('example.com');
  await waitForCount(page, '3 users');
  await page.getByRole('searchbox').fill('carl');
  await waitForCount(page, '1 user');
  await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
  await page.getByRole('button', { name: 'Deactivate' }).click();
  await page.getByRole('dialog').getByText('1 user will not be able to sign in').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click();
  await page.locator('.records').getByText('Inactive', { exact: true }).waitFor();
  assert.equal((await postern.call('accessuser/search', { active: false })).totalCount, 1);
  await page.getByRole('searchbox').fill('nobody of that name');
  await page.getByText('No results found.').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await waitForCount(page, '3 users');
});

test('API keys and operators can be added and deleted in their lists, and locations can be deleted', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  const [local] = (await postern.call('location/search')).list;
  await postern.call('location/add', { name: 'second', kind: 'local', configuration: local.configuration });
  const removeRow = async (name: string) => {
    await page.getByLabel(`Select ${name}`).check();
    await page.getByLabel('Bulk actions').getByRole('button', { name: 'Delete' }).click();
    const button = page.getByRole('dialog').getByRole('button', { name: 'Delete' });
    await button.click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByLabel(`Select ${name}`).waitFor({ state: 'detached' });
  };
  await go('/locations');
  await removeRow('second');
  await go('/settings/keys');
  await page.getByRole('button', { name: 'Create API key' }).click();
  await page.getByLabel('Name', { exact: true }).fill('nightly');
  await page.getByRole('button', { name: 'Create key' }).click();
  const key = await page.getByLabel('Your new key').inputValue();
  assert.equal((await postern.send('share/search', {}, { key })).status, 200);
  await page.getByRole('button', { name: 'Done' }).click();
  await removeRow('nightly');
  assert.equal((await postern.send('share/search', {}, { key })).status, 401);
  await page.getByRole('tab', { name: 'Operators' }).click();
  await page.getByRole('button', { name: 'Add operator' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Rita');
  await dialog.getByLabel('Password', { exact: true }).fill('another long secret');
  await dialog.getByLabel('Confirm password').fill('another long secret');
  await dialog.getByRole('button', { name: 'Add' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Rita', exact: true }).click();
  await dialog.getByLabel('Name').fill('Rita B.');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Rita B.', exact: true }).waitFor();
  await removeRow('Rita B.');
});

test('an API key expires after the chosen day in the time zone of the operator', async (t) => {
  const { postern, page, window, go } = await openSignedInConsole(t);
  const devTools = await window.newCDPSession(page);
  await devTools.send('Emulation.setTimezoneOverride', { timezoneId: 'America/New_York' });
  await go('/settings/keys');
  await page.getByRole('button', { name: 'Create API key' }).click();
  await page.getByLabel('Name', { exact: true }).fill('nightly');
  await page.getByLabel('Expires after').click();
  await page.locator('button[data-direction=next]').click();
  await page.getByRole('button', { name: /^15 / }).first().click();
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByLabel('Your new key').waitFor();
  const { list } = await postern.call('apikey/search');
  const expiry = list.find(({ name }: { name: string }) => name === 'nightly')?.expiryDateTime;
  assert.match(expiry ?? '', /-16T0[45]:00:00\.000Z$/); // midnight in New York
});

test('before an action on more than 20 shares, the dialog says that only the first 20 were checked for visits', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  for (let count = 0; count < 21; count += 1) await postern.call('share/add', newShare({ title: `Share ${count}` }));
  await go('/shares');
  await page.locator('.records').getByLabel('Select all on this page').check();
  await page.getByLabel('Bulk actions').getByRole('button', { name: 'Deactivate' }).click();
  await page.getByText('No visits were found in the last 7 days. Only the first 20 links were checked.').waitFor();
});
