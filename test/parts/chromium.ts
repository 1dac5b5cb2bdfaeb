import { after, type TestContext } from 'node:test';
import chromium from '@sparticuz/chromium';
import { type Browser, type BrowserContext, chromium as playwright } from 'playwright-core';
import { atEnd } from './at-end.ts';

let browserStart: Promise<Browser> | undefined;

/** Starts a real Chromium from an npm package, once for all tests of a file. Each test has isolated windows. */
function startChromium(): Promise<Browser> {
  browserStart ??= chromium.executablePath().then(launch);
  return browserStart;
}
after(() => browserStart?.then((browser) => browser.close()).catch(() => {})); // the browser may already have ended

function launchOnce(executablePath: string): Promise<Browser> {
  return playwright.launch({
    executablePath,
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--headless=shell',
    ],
  });
}

/** Starts Chromium, with one retry: about one start in several hundred is killed by a signal before any page is open. */
const launch = (executablePath: string) => launchOnce(executablePath).catch(() => launchOnce(executablePath));

/** Width, color scheme and language of a browser window. */
export interface Viewport {
  readonly width: number;
  readonly dark: boolean;
  readonly locale?: string;
}
export const viewports: readonly Viewport[] = [
  { width: 390, dark: false },
  { width: 390, dark: true },
  { width: 1440, dark: false },
  { width: 1440, dark: true },
];

/** Opens a browser window. @returns the window, its console errors and warnings, and every host to which it sent a request */
export async function openWindow(
  t: TestContext,
  { width, dark, locale = 'en-GB' }: Viewport,
): Promise<{ window: BrowserContext; consoleErrors: string[]; hosts: ReadonlySet<string> }> {
  const browser = await startChromium();
  const window = await browser.newContext({
    viewport: { width, height: width < 600 ? 844 : 900 },
    colorScheme: dark ? 'dark' : 'light',
    locale,
    acceptDownloads: true,
    reducedMotion: 'reduce', // otherwise Playwright waits for animations
  });
  atEnd(t, () => window.close());
  window.setDefaultTimeout(30_000); // a slow machine takes more than 10 s for some pages
  const consoleErrors: string[] = [];
  window.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') consoleErrors.push(message.text());
  });
  window.on('weberror', (error) => consoleErrors.push(error.error().message));
  const hosts = new Set<string>();
  window.on('request', (request) => request.url().startsWith('http') && hosts.add(new URL(request.url()).host));
  return { window, consoleErrors, hosts };
}
