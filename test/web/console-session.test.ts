import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newShare } from '../start.ts';
import { openConsole, openSignedInConsole, operatorPassword, signIn, unexpectedErrors } from './console.ts';
import { startResettingProxy } from './resetting-proxy.ts';

test('a failed sign-in shows an error, and repeated failures show a countdown until the next attempt', async (t) => {
  const { postern, page, go } = await openConsole(t);
  await postern.call('operator/add', { name: 'Olga', role: 'admin', password: operatorPassword, confirmPassword: operatorPassword });
  await go('');
  await signIn(page, 'Olga', 'not this one');
  await page.getByText('Wrong name or password.').waitFor();
  for (let count = 0; count < 6; count += 1) {
    const response = page.waitForResponse(/signIn/);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await response;
  }
  await page.getByText(/Try again in \d+ s/).waitFor();
});

test('if the connection breaks in the middle of a response, the operator reads that the server cannot be reached', async (t) => {
  const proxy = await startResettingProxy(t);
  const { postern, page } = await openConsole(t);
  proxy.forwardTo(postern.apiUrl);
  await page.goto(`http://127.0.0.1:${proxy.port}/console`);
  proxy.cutResponseTo('/operator/signIn ');
  await signIn(page, 'Olga', 'not this one');
  await page.getByText('The server cannot be reached. Check the connection and try again.').waitFor();
});

test('after a session ends, the operator signs in again on the same page, and typed values are kept', async (t) => {
  const { postern, page, window, go } = await openSignedInConsole(t);
  const { id } = await postern.call('share/add', newShare({ title: 'Reports' }));
  await go(`/shares/${id}`);
  await page.getByLabel('Title').fill('Reports of 2026');
  await window.clearCookies();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Your session has ended').waitFor();
  await page.getByRole('dialog').getByLabel('Password', { exact: true }).fill(operatorPassword);
  await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal(await page.getByLabel('Title').inputValue(), 'Reports of 2026');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved. The change applies from now on.').waitFor();
  assert.equal((await postern.call('share/get', { id })).title, 'Reports of 2026');
});

test('after sign-out, the back button shows only the sign-in page', async (t) => {
  const { page, go } = await openSignedInConsole(t);
  await go('/shares');
  await page.getByRole('button', { name: 'Olga' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in to Postern' }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: 'Sign in to Postern' }).waitFor();
});

test('if the server cannot be reached, an operator who signs out reads that the sign-out failed', async (t) => {
  const { page, go } = await openSignedInConsole(t);
  await go('/shares');
  await page.route(/operator\/signOut$/, (route) => route.abort());
  await page.getByRole('button', { name: 'Olga' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByText('The sign-out failed. The server cannot be reached.', { exact: false }).waitFor();
});

test('if a sign-in fails because the database is not available, the page says so', async (t) => {
  const { page, go } = await openConsole(t);
  await go('');
  await page.route(/operator\/signIn$/, (route) =>
    route.fulfill({
      status: 503,
      headers: { 'content-type': 'application/problem+json', 'retry-after': '5' },
      json: { code: 'storeAway', detail: 'The database is not available. Try again later' },
    }),
  );
  await signIn(page);
  await page.getByText(/^The database is not available\. Try again later\. Wait \d s\.$/).waitFor();
});

test('an operator who changes their own password must enter the current one, and the session ends', async (t) => {
  const { page, go } = await openSignedInConsole(t);
  await go('/settings/account');
  const newPassword = 'another long secret';
  await page.getByLabel('Current password').fill('not this one');
  await page.getByLabel('New password', { exact: true }).fill(newPassword);
  await page.getByLabel('Confirm new password').fill(newPassword);
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.getByText('The current password is wrong.').waitFor();
  await page.getByLabel('Current password').fill(operatorPassword);
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.getByText('Your session has ended').waitFor();
  await page.getByRole('dialog').getByLabel('Password', { exact: true }).fill(newPassword);
  await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

test('a reader sees no links or buttons for actions that would be refused', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t, undefined, 'reader');
  const { id } = await postern.call('share/add', newShare({ title: 'Reports' }));
  await go('/shares');
  await page.getByRole('link', { name: 'Reports' }).waitFor();
  for (const name of ['Audit log', 'Settings', 'Locations'])
    assert.equal(await page.getByRole('link', { name, exact: true }).count(), 0, name);
  assert.equal(await page.getByRole('link', { name: 'Create share' }).count(), 0);
  assert.equal(await page.getByRole('checkbox').count(), 0);
  await go(`/shares/${id}`);
  await page.getByRole('heading', { name: 'Check access' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Save' }).count(), 0);
  assert.equal(await page.getByRole('button', { name: 'Actions' }).count(), 0);
});

const blockedStorage = `for (const memory of ['localStorage', 'sessionStorage'])
  Object.defineProperty(window, memory, { get() { throw new DOMException('denied', 'SecurityError'); } })`;
const fullStorage = `Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }`;

for (const [state, script] of [
  ['blocks storage', blockedStorage],
  ['has no storage left', fullStorage],
] as const)
  test(`an operator can fill in and save a form, and sign out, in a browser that ${state}`, async (t) => {
    const { postern, page, consoleErrors, go } = await openSignedInConsole(t);
    await page.addInitScript(script);
    await go('/profiles/new');
    await page.getByLabel('Title').fill('Clients');
    await page.getByRole('button', { name: 'Create login profile' }).click();
    await page.getByRole('heading', { name: 'Clients' }).waitFor();
    assert.equal((await postern.call('loginprofile/search', { searchWord: 'Clients' })).totalCount, 1);
    await page.getByRole('button', { name: 'Olga' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to Postern' }).waitFor();
    assert.deepEqual(unexpectedErrors(consoleErrors), []);
  });
