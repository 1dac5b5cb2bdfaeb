import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import executable from '@sparticuz/chromium';
import { type Browser, chromium, type Page } from 'playwright-core';
import { operatorCookie } from './console-lists.ts';
import { atMost, type Figure, median } from './figures.ts';
import { browserArguments, hasChromium, lighthouseScores } from './lighthouse.ts';
import type { BenchPostern } from './postern.ts';

type Note = (figure: Figure) => void;

const entries = 100_000;
const runs = 5; // several, since one can be slow on a busy machine

/** Returns the compressed size of the scripts and styles of the first load, in kB. */
async function firstLoad(page: Page, url: string): Promise<number> {
  const sizes: Promise<number>[] = [];
  page.on('requestfinished', (request) => {
    if (!['script', 'stylesheet'].includes(request.resourceType())) return;
    sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
  });
  await page.goto(url, { waitUntil: 'networkidle' });
  return (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0) / 1000;
}

/**
 * Scrolls through a folder, more than a screen per frame.
 * @returns the duration of the longest frame, in ms
 */
function longestFrame(page: Page): Promise<number> {
  return page.evaluate(`new Promise((resolve) => {
    const [startTime, frames] = [performance.now(), []];
    let last = startTime;
    const step = (now) => {
      frames.push(now - last);
      last = now;
      window.scrollBy(0, 1000);
      if (now - startTime < 5000) requestAnimationFrame(step);
      else resolve(Math.max(...frames.slice(1)));
    };
    requestAnimationFrame(step);
  })`);
}

async function scrolling(note: Note, browser: Browser, url: string): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
  note(atMost('first load of the visitor’s page, script and style', await firstLoad(page, url), 50, 'kB'));
  await page.getByText('100,000 items').waitFor();
  // The result of an empty page shows the delays of the machine itself.
  const empty = await browser.newPage({ viewport: { width: 390, height: 844 } });
  await empty.setContent('<div style="height: 6400000px"></div>');
  const [longest, reference]: [number[], number[]] = [[], []];
  for (let run = 0; run < runs; run += 1) {
    await empty.bringToFront();
    reference.push(await longestFrame(empty));
    await page.bringToFront();
    longest.push(await longestFrame(page));
  }
  note({
    ...atMost('longest frame while 100,000 entries scroll by', median(longest), 50, 'ms'),
    reference: `${median(reference).toFixed(0)} ms of an empty page`,
    ratio: `${Math.min(...longest).toFixed(0)} to ${Math.max(...longest).toFixed(0)} ms`,
  });
}

async function shareNewFolder(postern: BenchPostern, share: object, files: string, name: string, entries: number): Promise<string> {
  mkdirSync(join(files, name));
  for (let index = 0; index < entries; index += 1) writeFileSync(join(files, name, `file ${index}.txt`), 'text');
  const { viewId } = await postern.call('share/add', { ...share, path: `/${name}` });
  return `${postern.url.replace('127.0.0.1', 'localhost')}/s/${viewId}`;
}

/**
 * Measures the visitor's page and the console in a real browser.
 * @param data the data folder of `postern`
 */
export async function measurePages(note: Note, postern: BenchPostern, share: object, data: string): Promise<void> {
  const files = join(data, 'files');
  const few = await shareNewFolder(postern, share, files, 'few', 40);
  if (hasChromium()) {
    const bounds = { performance: 95, accessibility: 100, 'best-practices': 100 };
    await lighthouseScores(note, { what: 'a listing on a phone', url: few, bounds }, data);
    const list = { url: `${postern.url}/console/shares`, cookie: await operatorCookie(postern), desktop: true };
    const desktopBounds = { performance: 90, accessibility: 100, 'best-practices': 100 };
    await lighthouseScores(note, { what: 'the list of shares in the console', ...list, bounds: desktopBounds }, data);
  } else console.log('Chromium is not installed, so Lighthouse does not run');
  const browser = await chromium.launch({ executablePath: await executable.executablePath(), args: browserArguments });
  try {
    await scrolling(note, browser, await shareNewFolder(postern, share, files, 'many', entries));
  } finally {
    await browser.close();
  }
}
