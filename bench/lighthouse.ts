import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import lighthouse, { desktopConfig } from 'lighthouse';
import { freePort } from '../test/parts/free-port.ts';
import { type Figure, median } from './figures.ts';

/** The browser's options in every measurement. */
export const browserArguments = [
  '--no-sandbox',
  '--disable-gpu',
  '--headless',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-sync',
];

/**
 * Returns whether Chromium is installed on this machine. Lighthouse needs it: the reduced Chromium
 * of the npm package `@sparticuz/chromium` crashes when Lighthouse measures styles.
 */
export const hasChromium = () => spawnSync('chromium', ['--version']).status === 0;

const runs = 5; // several, since one can be slow on a busy machine

export interface AuditedPage {
  readonly what: string;
  readonly url: string;
  /** Lowest allowed scores by category. */
  readonly bounds: Readonly<Record<string, number>>;
  /** Whether a desktop with a fast connection is simulated, instead of a slow phone with a slow connection. */
  readonly desktop?: boolean;
  readonly cookie?: string;
}

async function scoresOf({ url, bounds, desktop = false, cookie }: AuditedPage, folder: string): Promise<Record<string, number>> {
  const port = await freePort();
  const flags = [...browserArguments, `--remote-debugging-port=${port}`, `--user-data-dir=${folder}`, 'about:blank'];
  const browser = spawn('chromium', flags, { stdio: ['ignore', 'ignore', 'pipe'] });
  await new Promise<void>((resolve, reject) => {
    browser.once('exit', () => reject(new Error('the browser ended')));
    browser.stderr.on('data', (text: Buffer) => text.includes('DevTools listening') && resolve());
  });
  try {
    const options = {
      port,
      logLevel: 'error',
      onlyCategories: Object.keys(bounds),
      ...(cookie ? { extraHeaders: { cookie } } : {}),
    } as const;
    const result = await lighthouse(url, options, desktop ? desktopConfig : undefined);
    if (!result || result.lhr.runtimeError) throw new Error(result?.lhr.runtimeError?.message ?? 'Lighthouse returned no result');
    return Object.fromEntries(Object.entries(result.lhr.categories).map(([name, { score }]) => [name, Math.round((score ?? 0) * 100)]));
  } finally {
    browser.kill();
  }
}

/** Measures the median scores of a page. @param folder folder for the files of the browsers */
export async function lighthouseScores(note: (figure: Figure) => void, page: AuditedPage, folder: string): Promise<void> {
  const scores: Record<string, number>[] = [];
  for (let run = 0; run < runs; run += 1) scores.push(await scoresOf(page, join(folder, `lighthouse-${page.what}-${run}`)));
  for (const [name, minimum] of Object.entries(page.bounds)) {
    const values = scores.map((one) => one[name] ?? 0);
    const ours = median(values);
    const spread = `${ours} (${Math.min(...values)} to ${Math.max(...values)})`;
    note({
      ...{ what: `Lighthouse of ${page.what}, ${name}`, reference: '', ours: spread, ratio: '' },
      ...{ target: `at least ${minimum}`, holds: ours >= minimum },
    });
  }
}
