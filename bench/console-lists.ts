import executable from '@sparticuz/chromium';
import { type Browser, chromium, type Page } from 'playwright-core';
import { type Figure, median } from './figures.ts';
import { browserArguments } from './lighthouse.ts';
import type { BenchPostern } from './postern.ts';

const password = 'a horse that reads maps';

/** Adds an operator, and signs in to the console as this operator. @returns the cookie */
export async function operatorCookie(postern: BenchPostern): Promise<string> {
  await postern.call('operator/add', { name: 'Olga', role: 'admin', password, confirmPassword: password });
  const response = await fetch(`${postern.url}/api/v1/operator/signIn`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Olga', password }),
  });
  return response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
}

const listText = `(document.querySelector('.list-count')?.textContent ?? '') + (document.querySelector('.records tbody')?.textContent ?? '')`;

/** Returns the time from an action until the list shows its result, in ms. */
async function measureAction(page: Page, act: () => Promise<void>): Promise<number> {
  const before = JSON.stringify(await page.evaluate(listText));
  const startedAt = performance.now();
  const shown = page.evaluate(`new Promise((resolve) => {
    const poll = () => (document.querySelector('[data-stale]') || ${listText} === ${before} ? requestAnimationFrame(poll) : resolve());
    poll();
  })`);
  await Promise.all([act(), shown]);
  return performance.now() - startedAt;
}

type Act = (page: Page, round: number) => Promise<void>;

/** Types a different word in each round. No word matches all records. */
const typing =
  (...words: readonly string[]): Act =>
  (page, round) =>
    page.getByRole('searchbox').fill(words[round] ?? '');
const sortingBy =
  (column: string): Act =>
  (page) =>
    page.getByRole('button', { name: column, exact: true }).click();
const inState =
  (state: string): Act =>
  async (page) => {
    await page.getByPlaceholder('Any state').click();
    await page.getByRole('option', { name: state, exact: true }).click();
  };
const lastPage: Act = (page) =>
  page
    .getByRole('button', { name: /^Page \d+$/ })
    .last()
    .click();

interface ListAction {
  readonly list: 'shares' | 'users';
  readonly name: string;
  readonly act: Act;
}
const states = ['Active', 'Scheduled', 'Expired', 'Inactive'];
const actions: readonly ListAction[] = [
  { list: 'shares', name: 'typing a word', act: typing('report', 'invoice', 'contract', 'drawing', 'timesheet') },
  { list: 'shares', name: 'sorting by title', act: sortingBy('Title') },
  { list: 'shares', name: 'sorting by expiry', act: sortingBy('Expires') },
  { list: 'shares', name: 'the last page', act: lastPage },
  ...states.map((state): ListAction => ({ list: 'shares', name: `filter: ${state.toLowerCase()}`, act: inState(state) })),
  { list: 'users', name: 'typing a word', act: typing('dorn', 'schmidt', 'okafor', 'keller', 'rossi') },
  { list: 'users', name: 'sorting by e-mail', act: sortingBy('E-mail') },
  { list: 'users', name: 'the last page', act: lastPage },
  { list: 'users', name: 'filter: inactive', act: inState('Inactive') },
];

const rounds = 5;

/** Returns a function that opens a list in the console as an operator, and measures an action there. */
async function listMeasurer(browser: Browser, postern: BenchPostern) {
  const extraHTTPHeaders = { cookie: await operatorCookie(postern) };
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, extraHTTPHeaders });
  const page = await context.newPage();
  return async (list: string, act: Act, round: number) => {
    await page.bringToFront(); // a page in the background draws no frames
    await page.goto(`${postern.url}/console/${list}`, { waitUntil: 'networkidle' });
    return measureAction(page, () => act(page, round));
  };
}

/**
 * Compares how long an operator waits for each action in lists with few and with many records.
 * @param few a Postern with enough records in each state to fill a page, so that drawing takes as long as in `many`
 */
export async function compareConsoleLists(report: (figure: Figure) => void, few: BenchPostern, many: BenchPostern): Promise<void> {
  const browser = await chromium.launch({ executablePath: await executable.executablePath(), args: browserArguments });
  try {
    const [small, large] = [await listMeasurer(browser, few), await listMeasurer(browser, many)];
    for (const { list, name, act } of actions) {
      const [reference, ours]: [number[], number[]] = [[], []];
      for (let round = 0; round < rounds; round += 1) {
        reference.push(await small(list, act, round));
        ours.push(await large(list, act, round));
      }
      report({
        what: `500,000 ${list === 'users' ? 'access users' : list} in the console: ${name}`,
        reference: `${median(reference).toFixed(0)} ms with 1,000`,
        ours: `${median(ours).toFixed(0)} ms`,
        ratio: `${Math.max(...ours).toFixed(0)} ms maximum`,
        target: 'at most 100 ms more',
        holds: median(ours) - median(reference) <= 100,
      });
    }
  } finally {
    await browser.close();
  }
}
