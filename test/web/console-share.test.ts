import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { millisecondsPerDay } from '#core/instant.ts';
import { createUsersProfile, newShare, signIn as signInAtLink } from '../start.ts';
import { assertAccessible, openSignedInConsole, unexpectedErrors } from './console.ts';

test('the summary sentence follows each edit of the form, and the saved share matches it', async (t) => {
  const { postern, page, go, consoleErrors } = await openSignedInConsole(t);
  await mkdir(join(postern.files, 'reports'));
  const profile = await createUsersProfile(postern, ['ann', 'bob', 'carla']);
  await go('/shares/new');
  await page.getByLabel('File or folder').fill('/reports');
  await page.getByLabel('Title').fill('Reports');
  const waitForSummary = (words: string) => page.locator('.share-summary').getByText(words, { exact: true }).waitFor();
  await waitForSummary('Anyone with the link can view and download /reports.');
  await page
    .getByRole('combobox', { name: 'Login profile' })
    .or(page.getByRole('textbox', { name: 'Login profile' }))
    .click();
  await page.getByRole('option', { name: /Clients/ }).click();
  await waitForSummary('Everyone who signs in with Clients can view and download /reports.');
  await page.getByLabel('Everyone who signs in with Clients').click();
  await waitForSummary('Nobody can open /reports yet. Choose who gets access.');
  const users = page.getByRole('combobox', { name: 'Users' }).or(page.getByRole('textbox', { name: 'Users' }));
  await users.fill('an');
  await page.getByRole('option', { name: 'ann' }).click();
  await users.fill('bo');
  await page.getByRole('option', { name: 'bob' }).click();
  await waitForSummary('ann and bob, signed in with Clients, can view and download /reports.');
  await page.getByLabel('View only').click();
  await waitForSummary('ann and bob, signed in with Clients, can view /reports.');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Create share' }).click();
  await page.getByText('The link is ready').waitFor();
  const [share] = (await postern.call('share/search')).list;
  assert.deepEqual(
    [share.title, share.userNames, share.allowAllUsers, share.canView, share.canDownload, share.authenticationId],
    ['Reports', 'ann, bob', false, true, false, profile.id],
  );
  assert.deepEqual(unexpectedErrors(consoleErrors), []);
});

test('a value that the server refuses is marked at its field, and the form keeps all values', async (t) => {
  const { page, go } = await openSignedInConsole(t);
  await go('/shares/new');
  await page.getByLabel('File or folder').fill('/nowhere');
  await page.getByLabel('Title').fill('Reports');
  await page.getByRole('button', { name: 'Create share' }).click();
  await page.getByText('Not saved. Check the marked fields.').waitFor();
  assert.equal(await page.getByLabel('File or folder').getAttribute('aria-invalid'), 'true');
  assert.equal(await page.getByLabel('Title').inputValue(), 'Reports');
});

test('an operator whose save conflicts with another change can discard their own changes or keep both', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  const { id } = await postern.call('share/add', newShare({ title: 'Reports' }));
  const change = async (over: object) => postern.call('share/update', { ...(await postern.call('share/get', { id })), ...over });
  await go(`/shares/${id}`);
  await page.getByLabel('Description').fill('Mine');
  await change({ title: 'Theirs' });
  await page.getByRole('button', { name: 'Save' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('environment changed this record after you opened it').waitFor();
  await dialog.getByText('title', { exact: true }).waitFor();
  await assertAccessible(page, 'the dialog about a conflict');
  await dialog.getByRole('button', { name: 'Discard my changes' }).click();
  await page.getByRole('heading', { name: 'Theirs' }).waitFor();
  assert.equal(await page.getByLabel('Description').inputValue(), '');
  await page.getByLabel('Description').fill('Mine again');
  await change({ title: 'Theirs again' });
  await page.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('button', { name: 'Keep both changes' }).click();
  await page.getByRole('heading', { name: 'Theirs again' }).waitFor();
  await page.getByText('Changes: description.').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved. The change applies from now on.').waitFor();
  const share = await postern.call('share/get', { id });
  assert.deepEqual([share.title, share.description], ['Theirs again', 'Mine again']);
});

test('a saved change can be undone', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  const { id } = await postern.call('share/add', newShare({ title: 'Before' }));
  await go(`/shares/${id}`);
  await page.getByLabel('Title').fill('After');
  await page.getByText('Changes: title.').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'After' }).waitFor();
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await page.getByRole('heading', { name: 'Before', exact: true }).waitFor();
  assert.equal((await postern.call('share/get', { id })).title, 'Before');
});

test('leaving a page with unsaved changes asks for confirmation, and the draft is restored on return', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  const { id } = await postern.call('share/add', newShare({ title: 'Reports' }));
  await go(`/shares/${id}`);
  await page.getByLabel('Title').fill('Not saved');
  await page.getByRole('link', { name: 'Access users' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Leave without saving?').waitFor();
  await dialog.getByRole('button', { name: 'Stay' }).click();
  assert.equal(await page.getByLabel('Title').inputValue(), 'Not saved');
  await page.getByRole('link', { name: 'Access users' }).first().click();
  await dialog.getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('heading', { name: 'Access users', level: 1 }).waitFor();
  await page.goBack();
  await page.getByText('Draft restored').waitFor();
  assert.equal(await page.getByLabel('Title').inputValue(), 'Not saved');
  await page.getByRole('button', { name: 'Discard draft' }).click();
  assert.equal(await page.getByLabel('Title').inputValue(), 'Reports');
  await page.getByRole('link', { name: 'Shares' }).first().click();
  await page.getByRole('link', { name: 'Reports' }).click();
  await page.getByRole('heading', { name: 'Check access' }).waitFor();
  await page.getByLabel('Title').fill('Not saved either');
  await page.evaluate('history.back()');
  await dialog.getByRole('button', { name: 'Stay' }).click();
  assert.equal(await page.getByLabel('Title').inputValue(), 'Not saved either');
});

test('a draft keeps numbers that were entered in empty fields', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  const { id } = await postern.call('share/add', newShare({ title: 'Reports' }));
  await go(`/shares/${id}`);
  await page.getByLabel('Maximum number of files').fill('12');
  await page.getByRole('link', { name: 'Access users' }).first().click();
  await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('heading', { name: 'Access users', level: 1 }).waitFor();
  await page.goBack();
  await page.getByText('Draft restored').waitFor();
  assert.equal(await page.getByLabel('Maximum number of files').inputValue(), '12');
});

test('the panel "Check access" shows what a given visitor could do at the link', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  const profile = await createUsersProfile(postern, ['ann', 'bob']);
  const { id } = await postern.call('share/add', newShare({ authenticationId: profile.id, allowAllUsers: false, userNames: 'ann' }));
  await go(`/shares/${id}`);
  const panel = page.getByRole('region', { name: 'Check access' });
  await panel.getByRole('button', { name: 'Check access' }).click();
  await panel.getByText('This visitor can open the page and sign in, and nothing else.').waitFor();
  await panel.getByText('User name', { exact: true }).click();
  await panel.getByRole('textbox', { name: 'User name' }).fill('ann');
  await panel.getByRole('button', { name: 'Check access' }).click();
  await panel.getByText(/This visitor can open the link, list files, view files, download files/).waitFor();
  await panel.getByRole('textbox', { name: 'User name' }).fill('bob');
  await panel.getByRole('button', { name: 'Check access' }).click();
  await panel.getByText('This visitor cannot do anything.').waitFor();
  await assertAccessible(page, 'the result of an access check');
});

test('the page of a share shows who has opened it, who has not, and the activity per day', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  await writeFile(join(postern.files, 'report.txt'), 'what was earned');
  const profile = await createUsersProfile(postern, ['ann', 'bob']);
  const share = await postern.call('share/add', newShare({ authenticationId: profile.id, allowAllUsers: false, userNames: 'ann, bob' }));
  const cookie = await signInAtLink(postern, `/s/${share.viewId}`, 'ann');
  await postern.visit(`/s/${share.viewId}/visit`, { headers: { cookie } });
  await postern.visit(`/s/${share.viewId}/file/report.txt`, { headers: { cookie } });
  await go(`/shares/${share.id}`);
  const panel = page.getByRole('region', { name: 'Activity' });
  await panel.getByRole('img', { name: '1 visit, 1 download and 0 uploads in 30 days' }).waitFor();
  await panel.getByRole('cell', { name: 'ann' }).waitFor();
  await panel.getByText('Have not opened the share in the last 30 days: bob.').waitFor();
  await panel.getByText('Show as table').click();
  await panel.getByRole('columnheader', { name: 'Day' }).waitFor();
  await assertAccessible(page, 'the activity of a share');
});

test('the page of a share says how many visitors its list leaves out', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  const { id } = await postern.call('share/add', newShare());
  await page.route(/share\/activity$/, async (route) => {
    const response = await route.fetch();
    const counts = { visits: 1, downloads: 0, uploads: 0, lastDateTime: new Date().toISOString() };
    const byVisitor = Array.from({ length: visitorCount }, (_, index) => ({ visitor: `visitor ${index}`, ...counts }));
    await route.fulfill({ response, json: { ...(await response.json()), byVisitor } });
  });
  let visitorCount = 53;
  await go(`/shares/${id}`);
  const panel = page.getByRole('region', { name: 'Activity' });
  await panel.getByRole('cell', { name: 'visitor 49' }).waitFor();
  await panel.getByText('3 more', { exact: true }).waitFor();
  visitorCount = 1000; // the most that the server returns
  await page.reload();
  await panel.getByText('At least 950 more', { exact: true }).waitFor();
});

test('the page of a share requests the activity from the start of the first day of the chart, 29 days ago in UTC', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  const { id } = await postern.call('share/add', newShare());
  const request = page.waitForRequest(/share\/activity$/);
  await go(`/shares/${id}`);
  const start = Date.parse((await request).postDataJSON().fromDate) / millisecondsPerDay;
  assert.equal(start, Math.floor(Date.now() / millisecondsPerDay) - 29);
});

test('the buttons for the next and the previous month of a calendar have names', async (t) => {
  const { page, go } = await openSignedInConsole(t);
  await go('/shares/new');
  await page.getByRole('button', { name: 'Expires' }).click();
  await page.getByRole('button', { name: 'Next month' }).click();
  await page.getByRole('button', { name: 'Previous month' }).click();
});

test('after a share is deactivated in the console, the next click of a visitor shows no files', async (t) => {
  const { postern, page, window, go } = await openSignedInConsole(t);
  await mkdir(join(postern.files, 'inner'));
  const share = await postern.call('share/add', newShare({ title: 'Reports' }));
  const visitor = await window.newPage();
  await visitor.goto(share.viewUrl);
  await visitor.getByRole('link', { name: /^inner/ }).waitFor();
  await go(`/shares/${share.id}`);
  await page.getByRole('button', { name: 'Actions' }).click();
  await page.getByRole('menuitem', { name: 'Deactivate' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click();
  await page.getByText('Inactive', { exact: true }).waitFor();
  await visitor.getByRole('link', { name: /^inner/ }).click();
  await visitor.getByRole('heading', { name: /link/i }).first().waitFor();
  await visitor.getByRole('link', { name: /^inner/ }).waitFor({ state: 'detached' });
});

test('a share can be duplicated and deleted from its page', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  const { id } = await postern.call('share/add', newShare({ title: 'Reports' }));
  await go(`/shares/${id}`);
  await page.getByRole('button', { name: 'Actions' }).click();
  await page.getByRole('menuitem', { name: 'Duplicate' }).click();
  await page.getByRole('heading', { name: 'Reports (copy)' }).waitFor();
  await page.getByRole('button', { name: 'Actions' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'Shares', level: 1 }).waitFor();
  assert.equal((await postern.call('share/search')).totalCount, 1);
});

test('a link can get a chosen address; a taken, too short or malformed one is refused at its field', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  const { id } = await postern.call('share/add', newShare());
  await postern.call('share/updateSharableLink', { id: (await postern.call('share/add', newShare())).id, viewId: 'spring-report' });
  await go(`/shares/${id}`);
  await page.getByRole('button', { name: 'Actions' }).click();
  await page.getByRole('menuitem', { name: 'Choose link address' }).click();
  const dialog = page.getByRole('dialog');
  for (const [viewId, words] of [
    ['spring-report', /is taken/i],
    ['team', /for a login profile without sign-in/],
    ['with space', /letters/],
  ] as const) {
    await dialog.getByLabel('Address').fill(viewId);
    await dialog.getByRole('button', { name: 'Change address' }).click();
    await dialog.getByText(words).first().waitFor();
  }
  await assertAccessible(page, 'an address that is refused');
  await dialog.getByLabel('Address').fill('summer-report');
  await dialog.getByRole('button', { name: 'Change address' }).click();
  await page.getByText('The link now has this address.').waitFor();
  assert.equal((await postern.visit('/s/summer-report/visit')).status, 200);
});

test('an operator protects the files of a share, lets screen readers read them, and has them signed', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  const { id } = await postern.call('share/add', newShare({ title: 'Contracts' }));
  await go(`/shares/${id}`);
  assert.equal(await page.getByLabel('Text for screen readers').count(), 0);
  await page.getByLabel('Copy protection').check();
  await page.getByLabel('Text for screen readers').check();
  await page.getByLabel('Watermark').fill('For {user}');
  await page.getByLabel('Sign PDF files when they are downloaded').check();
  await page.getByLabel('Reason in the signature').fill('Released');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved. The change applies from now on.').waitFor();
  const { copyProtect, copyProtectText, waterMarkText, digitalSignature, digitalSignReason } = await postern.call('share/get', { id });
  assert.deepEqual(
    [copyProtect, copyProtectText, waterMarkText, digitalSignature, digitalSignReason],
    [true, true, 'For {user}', true, 'Released'],
  );
});
