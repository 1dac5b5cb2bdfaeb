import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { createUsersProfile, newShare, signIn as signInAtLink } from '../start.ts';
import { assertAccessible, openSignedInConsole, waitForCount } from './console.ts';

test('a new access user can sign in with the given password, and an operator can set another one', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  const profile = await createUsersProfile(postern, []);
  const share = await postern.call('share/add', newShare({ authenticationId: profile.id }));
  await go('/users/new');
  await page.getByLabel('User name').fill('ann');
  await page.getByLabel('E-mail').fill('ann@example.com');
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill(profile.password);
  await page.getByRole('button', { name: 'Add' }).click();
  await page.getByRole('heading', { name: 'ann' }).waitFor();
  await signInAtLink(postern, `/s/${share.viewId}`, 'ann');
  await page.getByRole('button', { name: 'Set password' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('New password').fill('ann');
  await dialog.getByLabel('Confirm password').fill('ann');
  await dialog.getByRole('button', { name: 'Set password' }).click();
  await dialog.getByText(/at least 10|10 characters/i).waitFor();
  await assertAccessible(page, 'a password that is refused');
  await dialog.getByLabel('New password').fill('another long secret');
  await dialog.getByLabel('Confirm password').fill('another long secret');
  await dialog.getByRole('button', { name: 'Set password' }).click();
  await page.getByText('ann has a new password.').waitFor();
});

test('the page of an access user lists the changed fields before they are saved, and has a button that deletes the user', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  const { users } = await createUsersProfile(postern, ['ann']);
  await go(`/users/${users['ann']}`);
  await page.getByLabel('First name').fill('Ann');
  await page.getByText('Changes: first name.').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  assert.equal((await postern.call('accessuser/search')).list[0].firstName, 'Ann');
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'Access users', level: 1 }).waitFor();
  assert.equal((await postern.call('accessuser/search')).totalCount, 0);
});

test('an import first checks every row, reports each refused row with line and reason, and adds the others', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  await createUsersProfile(postern, ['ann']);
  await go('/users/import');
  await page
    .getByLabel('CSV text')
    .fill(
      [
        'User Name;First name;email;active',
        'dora;Dora;dora@example.com;yes',
        'ann;Ann;ann2@example.com;',
        'emil;Emil;not an address;',
        'dora;Again;;',
        'fay;Fay;;perhaps',
      ].join('\n'),
    );
  await page.getByRole('button', { name: 'Check file' }).click();
  await page.getByText('1 user would be added').waitFor();
  const rows = await page
    .getByRole('status')
    .locator('tbody tr')
    .evaluateAll((all) => all.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent ?? '')));
  assert.deepEqual(
    rows.map(([line, name]) => [line, name]),
    [
      ['3', 'ann'],
      ['4', 'emil'],
      ['5', 'dora'],
      ['6', 'fay'],
    ],
  );
  assert.match(rows[0]?.[2] ?? '', /User name is taken/);
  assert.match(rows[1]?.[2] ?? '', /E-mail must be an e-mail address/);
  assert.match(rows[2]?.[2] ?? '', /the same as in line 2/);
  assert.match(rows[3]?.[2] ?? '', /Active must be true or false/);
  assert.equal((await postern.call('accessuser/search')).totalCount, 1);
  await assertAccessible(page, 'the result of the check');
  await page.getByRole('button', { name: 'Import 1 user' }).click();
  await page.getByText('1 user added').waitFor();
  assert.equal((await postern.call('accessuser/search')).totalCount, 2);
});

test('while an import is checked, its rows cannot be changed, so that only checked rows are imported', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  await createUsersProfile(postern, []);
  await go('/users/import');
  await page.getByLabel('CSV text').fill('username\nann');
  const check = Promise.withResolvers<void>();
  await page.route(/accessuser\/addMany/, async (route) => {
    await check.promise;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Check file' }).click();
  await page.getByRole('progressbar').waitFor({ state: 'attached' });
  const fields = [
    page.getByLabel('CSV text'),
    page.getByRole('button', { name: 'Choose file' }),
    page.getByLabel('Field for the column username'),
    page.getByRole('combobox', { name: 'Login profile' }).or(page.getByRole('textbox', { name: 'Login profile' })),
  ];
  for (const field of fields) assert.equal(await field.isDisabled(), true, `${field}`);
  check.resolve();
  await page.getByRole('button', { name: 'Import 1 user' }).waitFor();
  for (const field of fields) assert.equal(await field.isDisabled(), false, `${field}`);
});

test('an import keeps accented letters, lets the operator assign columns, and names the columns left out', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  const { id: authId, password } = await createUsersProfile(postern, []);
  const { viewId } = await postern.call('share/add', newShare({ authenticationId: authId }));
  await go('/users/import');
  const lines = ['Kürzel;Vorname;Abteilung;Kennwort', `jos\xe9;Jos\xe9;Einkauf;${password}`, 'ren\xe9e;Ren\xe9e;;'];
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Choose file' }).click()]);
  await chooser.setFiles({ name: 'users.csv', mimeType: 'text/csv', buffer: Buffer.from(lines.join('\r\n'), 'latin1') });
  await page.getByText('Choose the column that contains the user names.').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Check file' }).isDisabled(), true);
  await page.getByLabel('Field for the column Kürzel').selectOption('User name');
  await page.getByText('Not imported: Abteilung.').waitFor();
  await assertAccessible(page, 'the choice of columns');
  await page.getByRole('button', { name: 'Check file' }).click();
  await page.getByRole('button', { name: 'Import 2 users' }).click();
  await page.getByText('2 users added').waitFor();
  const { list } = await postern.call('accessuser/search', { sortField: 'username' });
  assert.deepEqual(
    list.map((user: { username: string; firstName: string }) => [user.username, user.firstName]),
    [
      ['josé', 'José'],
      ['renée', 'Renée'],
    ],
  );
  await signInAtLink(postern, `/s/${viewId}`, 'josé');
});

test('an export contains only the users that match the search, and no formula that a spreadsheet would run', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  const { id: authId } = await createUsersProfile(postern, ['ann', 'bob']);
  await postern.call('accessuser/add', { username: 'carla', firstName: '=1+1', lastName: 'Diaz; "C"', active: false, authId });
  await go('/users');
  await page.getByRole('searchbox').fill('carla');
  await waitForCount(page, '1 user');
  await page.getByRole('button', { name: 'Import or export' }).click();
  await page.getByRole('menuitem', { name: 'Export to CSV' }).click();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Save file' }).click()]);
  const text = await readFile(await download.path(), 'utf8');
  assert.equal(text, '\ufeffusername,firstName,lastName,email,active\r\ncarla,\'=1+1,"Diaz; ""C""",,false');
});

test('if a user is deleted while an export is prepared, the export contains all other users', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  const { id: authId, users } = await createUsersProfile(postern, ['ann']);
  const added = Array.from({ length: 1000 }, (_, index) => ({ username: `user-${index}`, active: true }));
  await postern.call('accessuser/addMany', { authId, users: added });
  await go('/users');
  await waitForCount(page, '1,001 users');
  let pages = 0;
  await page.route(/accessuser\/search\?.*pageSize=1000/, async (route) => {
    pages += 1;
    if (pages === 2) await postern.call('accessuser/delete', { id: users['ann'] });
    await route.continue();
  });
  await page.getByRole('button', { name: 'Import or export' }).click();
  await page.getByRole('menuitem', { name: 'Export to CSV' }).click();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Save file' }).click()]);
  const names = (await readFile(await download.path(), 'utf8')).split('\r\n').map((line) => line.split(',')[0]);
  assert.equal(pages, 2);
  assert.deepEqual(names.filter((name) => name?.startsWith('user-')).length, 1000);
});

test('a login profile can be found by a title that ends with parentheses', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  await createUsersProfile(postern, ['ann'], { title: 'Staff (old)' });
  await createUsersProfile(postern, [], { title: 'Staff (new)' });
  await go('/users');
  await waitForCount(page, '1 user');
  const select = page.getByPlaceholder('Any login profile');
  await select.click();
  await page.getByRole('option', { name: 'Staff (old)' }).waitFor();
  await select.fill('Staff (new)');
  await page.getByRole('option', { name: 'Staff (old)' }).waitFor({ state: 'detached' });
  await page.getByRole('option', { name: 'Staff (new)' }).click();
});

test('if the form of a new user cannot be loaded, the page says so and offers to try again', async (t) => {
  const { page, go } = await openSignedInConsole(t);
  await page.route(/loginprofile\/search/, (route) => route.fulfill({ status: 500, json: {} }));
  await go('/users/new');
  await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
  await page.unroute(/loginprofile\/search/);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByLabel('User name').waitFor();
});
