import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import executable from '@sparticuz/chromium';
import lighthouse from 'lighthouse';
import { type Browser, chromium, type Page } from 'playwright-core';
import { freePort } from '../test/parts/free-port.ts';
import { atMost, type Figure, middle } from './figures.ts';
import type { BenchPostern } from './postern.ts';

type Note = (figure: Figure) => void;

const entries = 100_000;
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--headless',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-sync',
];

/** The package's own is a smaller Chromium, which ends under Lighthouse's measuring of styles. */
const hasChromium = () => spawnSync('chromium', ['--version']).status === 0;

const bounds = { performance: 95, accessibility: 100, 'best-practices': 100 } as const;
const runs = 5; // a busy machine makes one of them slow

/** What Lighthouse says of a page on a slow phone with a slow line, once. */
async function scoresOf(url: string, folder: string): Promise<Record<string, number>> {
  const port = await freePort();
  const flags = [...args, `--remote-debugging-port=${port}`, `--user-data-dir=${folder}`, 'about:blank'];
  const browser = spawn('chromium', flags, { stdio: ['ignore', 'ignore', 'pipe'] });
  await new Promise<void>((resolve, reject) => {
    browser.once('exit', () => reject(new Error('the browser ended')));
    browser.stderr.on('data', (text: Buffer) => text.includes('DevTools listening') && resolve());
  });
  try {
    const found = await lighthouse(url, { port, logLevel: 'error', onlyCategories: Object.keys(bounds) });
    if (!found || found.lhr.runtimeError) throw new Error(found?.lhr.runtimeError?.message ?? 'Lighthouse said nothing');
    return Object.fromEntries(Object.entries(found.lhr.categories).map(([name, { score }]) => [name, Math.round((score ?? 0) * 100)]));
  } finally {
    browser.kill();
  }
}

async function scores(note: Note, url: string, folder: string): Promise<void> {
  const found: Record<string, number>[] = [];
  for (let run = 0; run < runs; run += 1) found.push(await scoresOf(url, join(folder, `lighthouse-${run}`)));
  for (const [name, least] of Object.entries(bounds)) {
    const each = found.map((one) => one[name] ?? 0);
    const ours = middle(each);
    const spread = `${ours} (${Math.min(...each)} to ${Math.max(...each)})`;
    note({
      ...{ what: `Lighthouse of a listing on a phone, ${name}`, reference: '', ours: spread, ratio: '' },
      ...{ target: `at least ${least}`, holds: ours >= least },
    });
  }
}

/** Script and style of the first load, compressed, as they come over the line; kB. */
async function firstLoad(page: Page, url: string): Promise<number> {
  const taken: Promise<number>[] = [];
  page.on('requestfinished', (request) => {
    if (!['script', 'stylesheet'].includes(request.resourceType())) return;
    taken.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
  });
  await page.goto(url, { waitUntil: 'networkidle' });
  return (await Promise.all(taken)).reduce((sum, bytes) => sum + bytes, 0) / 1000;
}

/** Scrolls through a folder, a screen and more a frame. @returns the longest frame, ms */
function longestFrame(page: Page): Promise<number> {
  return page.evaluate(`new Promise((resolve) => {
    const [begun, frames] = [performance.now(), []];
    let last = begun;
    const step = (now) => {
      frames.push(now - last);
      last = now;
      window.scrollBy(0, 1000);
      if (now - begun < 5000) requestAnimationFrame(step);
      else resolve(Math.max(...frames.slice(1)));
    };
    requestAnimationFrame(step);
  })`);
}

async function scrolling(note: Note, browser: Browser, url: string): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
  note(atMost('first load of the visitor’s page, script and style', await firstLoad(page, url), 50, 'kB'));
  await page.getByText('100,000 items').waitFor();
  const longest: number[] = [];
  for (let run = 0; run < runs; run += 1) longest.push(await longestFrame(page));
  note({
    ...atMost('longest frame while 100,000 entries scroll by', middle(longest), 50, 'ms'),
    ratio: `${Math.min(...longest).toFixed(0)} to ${Math.max(...longest).toFixed(0)} ms`,
  });
}

async function folderOf(postern: BenchPostern, share: object, files: string, name: string, entries: number): Promise<string> {
  mkdirSync(join(files, name));
  for (let index = 0; index < entries; index += 1) writeFileSync(join(files, name, `file ${index}.txt`), 'text');
  const { viewId } = await postern.call('share/add', { ...share, path: `/${name}` });
  return `${postern.url.replace('127.0.0.1', 'localhost')}/s/${viewId}`;
}

/** The visitor's page in a real browser. @param data the folder of that Postern */
export async function pages(note: Note, postern: BenchPostern, share: object, data: string): Promise<void> {
  const files = join(data, 'files');
  if (hasChromium()) await scores(note, await folderOf(postern, share, files, 'few', 40), data);
  else console.log('without an installed Chromium: Lighthouse is not run');
  const browser = await chromium.launch({ executablePath: await executable.executablePath(), args });
  try {
    await scrolling(note, browser, await folderOf(postern, share, files, 'many', entries));
  } finally {
    await browser.close();
  }
}
