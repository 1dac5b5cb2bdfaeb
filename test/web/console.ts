import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import type { BrowserContext, Page } from 'playwright-core';
import { type Look, openWindow } from '../parts/chromium.ts';
import { type Start, startPostern, type TestPostern } from '../start.ts';

/** Of every operator in these tests. */
export const password = 'a horse that reads maps';
export const desktop: Look = { width: 1440, dark: false };

/** Whoever is not signed in is told so by a 401, which the browser notes; anything else is a complaint. */
export const realComplaints = (complaints: readonly string[]) => complaints.filter((text) => !/status of (401|400|409|412)/.test(text));

export interface Console {
  readonly postern: TestPostern;
  readonly window: BrowserContext;
  readonly page: Page;
  readonly complaints: string[];
  /** Hosts that were asked for anything. */
  readonly hosts: ReadonlySet<string>;
  /** Opens a page of the console. */
  go(path: string): Promise<void>;
  /** Goes to a page as a link of the console does, without loading it anew. */
  walk(path: string): Promise<void>;
}

interface ConsoleStart extends Start {
  /** The host that the browser opens. Default: an IP address. */
  readonly host?: 'localhost';
}

/** A Postern, and a browser at its console in which nobody has signed in. */
export async function openConsole(t: TestContext, look: Look = desktop, { host, ...start }: ConsoleStart = {}): Promise<Console> {
  const started = await startPostern(t, start);
  const postern = host === undefined ? started : { ...started, apiUrl: started.apiUrl.replace('127.0.0.1', host) };
  const { window, complaints, hosts } = await openWindow(t, look);
  const page = await window.newPage();
  const go = async (path: string) => void (await page.goto(`${postern.apiUrl}/console${path}`));
  const walk = async (path: string) => {
    if (page.url() === 'about:blank') return go(path);
    await page.evaluate(`history.pushState({}, '', ${JSON.stringify(`/console${path}`)}); dispatchEvent(new PopStateEvent('popstate'))`);
  };
  return { postern, window, page, complaints, hosts, go, walk };
}

/** Types a name and a password where they are asked for. */
export async function signIn(page: Page, name = 'Olga', secret = password): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password', { exact: true }).fill(secret);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** The same, with an operator who has signed in; no page is open yet. */
export async function signedIn(t: TestContext, look: Look = desktop, role = 'admin', start: ConsoleStart = {}): Promise<Console> {
  const opened = await openConsole(t, look, start);
  await opened.postern.call('operator/add', { name: 'Olga', role, password, confirmPassword: password });
  await opened.window.request.post(`${opened.postern.apiUrl}/api/v1/operator/signIn`, { data: { name: 'Olga', password } });
  return opened;
}

/** Asserts that axe finds nothing on the page as it is. */
export async function assertClean(page: Page, state: string, axe = new AxeBuilder({ page })): Promise<void> {
  // No page here has frames of others: the quick way sees all of it.
  const { violations } = await axe.setLegacyMode(true).analyze();
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
  assert.deepEqual(found, [], state);
}

/** The names of a list's rows, from the first. */
export const rowNames = (page: Page) => page.locator('.records tbody tr td:nth-child(2) > :first-child').allTextContents();

/** Waits until the list says so many. */
export const listSays = (page: Page, words: string) => page.locator('.list-count').getByText(words, { exact: true }).waitFor();
