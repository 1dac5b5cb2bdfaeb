import executable from '@sparticuz/chromium';
import { type Browser, chromium, type Page } from 'playwright-core';
import { type Figure, middle } from './figures.ts';
import { args } from './lighthouse.ts';
import type { BenchPostern } from './postern.ts';

const password = 'a horse that reads maps';

/** The cookie of an operator who has signed in to the console. */
export async function operatorCookie(postern: BenchPostern): Promise<string> {
  await postern.call('operator/add', { name: 'Olga', role: 'admin', password, confirmPassword: password });
  const answer = await fetch(`${postern.url}/api/v1/operator/signIn`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Olga', password }),
  });
  return answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
}

const seen = `(document.querySelector('.list-count')?.textContent ?? '') + (document.querySelector('.records tbody')?.textContent ?? '')`;

/** How long it takes from what somebody does until the list shows what they asked for; ms. */
async function waited(page: Page, act: () => Promise<void>): Promise<number> {
  const before = JSON.stringify(await page.evaluate(seen));
  const begun = performance.now();
  const shown = page.evaluate(`new Promise((resolve) => {
    const look = () => (document.querySelector('[data-stale]') || ${seen} === ${before} ? requestAnimationFrame(look) : resolve());
    look();
  })`);
  await Promise.all([act(), shown]);
  return performance.now() - begun;
}

const words = ['report', 'invoice', 'contract', 'drawing', 'timesheet']; // a round each: every one for the first time, and none in all

type Act = (page: Page, round: number) => Promise<void>;

/** What somebody does to the list of shares. */
const acts: Readonly<Record<string, Act>> = {
  'typing a word': (page, round) => page.getByRole('searchbox').fill(words[round] ?? ''),
  'sorting by title': (page) => page.getByRole('button', { name: 'Title' }).click(),
  'the last page': (page) =>
    page
      .getByRole('button', { name: /^Page \d+$/ })
      .last()
      .click(),
  'those that are inactive': async (page) => {
    await page.getByPlaceholder('Any state').click();
    await page.getByRole('option', { name: 'Inactive' }).click();
  },
};

/** The list of shares of one Postern, in a browser in which an operator has signed in. */
async function listOf(browser: Browser, postern: BenchPostern) {
  const extraHTTPHeaders = { cookie: await operatorCookie(postern) };
  const window = await browser.newContext({ viewport: { width: 1440, height: 900 }, extraHTTPHeaders });
  const page = await window.newPage();
  return async (act: Act, round: number) => {
    await page.bringToFront(); // what is behind draws no frames
    await page.goto(`${postern.url}/console/shares`, { waitUntil: 'networkidle' });
    return waited(page, () => act(page, round));
  };
}

/** The console's list of shares, of very many beside few: how long a person waits for each thing they do. */
export async function consoleLists(note: (figure: Figure) => void, few: BenchPostern, many: BenchPostern): Promise<void> {
  const browser = await chromium.launch({ executablePath: await executable.executablePath(), args });
  try {
    const [small, large] = [await listOf(browser, few), await listOf(browser, many)];
    for (const [name, act] of Object.entries(acts)) {
      const [reference, ours]: [number[], number[]] = [[], []];
      for (const round of words.keys()) {
        reference.push(await small(act, round));
        ours.push(await large(act, round));
      }
      note({
        what: `a list of 500,000 of 1,000,000 shares in the console: ${name}`,
        reference: `${middle(reference).toFixed(0)} ms of 100`,
        ours: `${middle(ours).toFixed(0)} ms`,
        ratio: `${Math.max(...ours).toFixed(0)} ms at most`,
        target: 'at most 100 ms more',
        holds: middle(ours) - middle(reference) <= 100,
      });
    }
  } finally {
    await browser.close();
  }
}
