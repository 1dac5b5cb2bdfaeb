import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import type { BrowserContext, Page } from 'playwright-core';
import { openWindow, type Viewport } from '../parts/chromium.ts';
import { type StartOptions, startPostern, type TestPostern } from '../start.ts';

/** Password of operator Olga. Most tests use it for other operators, too. */
export const operatorPassword = 'a horse that reads maps';
export const desktop: Viewport = { width: 1440, dark: false };

/** Returns the console errors and warnings, except those about responses with status 400, 401, 409 and 412, which tests expect. */
export const unexpectedErrors = (consoleErrors: readonly string[]) =>
  consoleErrors.filter((text) => !/status of (401|400|409|412)/.test(text));

export interface Console {
  readonly postern: TestPostern;
  readonly window: BrowserContext;
  readonly page: Page;
  readonly consoleErrors: string[];
  /** Hosts that received a request. */
  readonly hosts: ReadonlySet<string>;
  /** Opens a page of the console. */
  go(path: string): Promise<void>;
  /** Opens a page of the console without a reload, like a click on a link. On a blank page, it does the same as `go`. */
  navigate(path: string): Promise<void>;
}

interface ConsoleStart extends StartOptions {
  /** The host that the browser opens. Default: an IP address. */
  readonly host?: 'localhost';
}

/** Starts Postern and opens a browser window with a blank page. No operator is signed in. */
export async function openConsole(t: TestContext, viewport: Viewport = desktop, { host, ...start }: ConsoleStart = {}): Promise<Console> {
  const testPostern = await startPostern(t, start);
  const postern = host === undefined ? testPostern : { ...testPostern, apiUrl: testPostern.apiUrl.replace('127.0.0.1', host) };
  const { window, consoleErrors, hosts } = await openWindow(t, viewport);
  const page = await window.newPage();
  const go = async (path: string) => void (await page.goto(`${postern.apiUrl}/console${path}`));
  const navigate = async (path: string) => {
    if (page.url() === 'about:blank') return go(path);
    await page.evaluate(`history.pushState({}, '', ${JSON.stringify(`/console${path}`)}); dispatchEvent(new PopStateEvent('popstate'))`);
  };
  return { postern, window, page, consoleErrors, hosts, go, navigate };
}

export async function signIn(page: Page, name = 'Olga', secret = operatorPassword): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password', { exact: true }).fill(secret);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Starts Postern, adds operator Olga, and opens a browser window with a blank page. Olga is signed in. */
export async function openSignedInConsole(
  t: TestContext,
  viewport: Viewport = desktop,
  role = 'admin',
  start: ConsoleStart = {},
): Promise<Console> {
  const openedConsole = await openConsole(t, viewport, start);
  await openedConsole.postern.call('operator/add', { name: 'Olga', role, password: operatorPassword, confirmPassword: operatorPassword });
  await openedConsole.window.request.post(`${openedConsole.postern.apiUrl}/api/v1/operator/signIn`, {
    data: { name: 'Olga', password: operatorPassword },
  });
  return openedConsole;
}

/** Asserts that axe finds no problem on the page in its current state. */
export async function assertAccessible(page: Page, state: string, axe = new AxeBuilder({ page })): Promise<void> {
  // The pages have no frames of other origins, so the faster legacy mode checks everything.
  const { violations } = await axe.setLegacyMode(true).analyze();
  const problems = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
  assert.deepEqual(problems, [], state);
}

/** Returns the names in the rows of a list, from top to bottom. */
export const rowNames = (page: Page) => page.locator('.records tbody tr td:nth-child(2) > :first-child').allTextContents();

/** Waits until the list shows this count. */
export const waitForCount = (page: Page, text: string) => page.locator('.list-count').getByText(text, { exact: true }).waitFor();
