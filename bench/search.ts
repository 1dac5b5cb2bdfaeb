import { DatabaseSync } from 'node:sqlite';
import autocannon from 'autocannon';
import { atMost, type Figure, percentile } from './figures.ts';
import type { BenchPostern } from './postern.ts';
import { searchWords, seededRandom } from './records.ts';

type Note = (figure: Figure) => void;
type Query = Readonly<Record<string, string | number>>;

const sortFields = ['id', 'title', 'path', 'createDateTime', 'updateDateTime', 'authenticationId'];
const words = Object.values(searchWords).flat();
const searchesPerWord = 6;
const warmUpRequests = 30;

/** Sends a search. @returns ms until the complete response, the number of matches, and the cursor of the next page */
async function search(postern: BenchPostern, query: Query, key?: string): Promise<{ ms: number; total: number; next: string | undefined }> {
  const parameters = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
  const headers = key === undefined ? postern.authorization : { authorization: `Bearer ${key}` };
  const start = performance.now();
  const response = await fetch(`${postern.url}/api/v1/share/search?${parameters}`, { headers });
  const text = await response.text();
  const ms = performance.now() - start;
  if (!response.ok) throw new Error(text);
  const link = /[?&]after=([^&>]+)/.exec(response.headers.get('link') ?? '')?.[1];
  return { ms, total: JSON.parse(text).totalCount, next: link && decodeURIComponent(link) };
}

/**
 * Searches for every word several times in random order, sorted by a random indexed field.
 * @returns durations in ms: of all searches, and of the first search for each word
 */
async function measureWordSearches(postern: BenchPostern, key?: string): Promise<{ all: number[]; first: number[] }> {
  const random = seededRandom(words.length);
  const searchOrder = words
    .flatMap((word) => Array.from({ length: searchesPerWord }, () => ({ word, at: random() })))
    .sort((a, b) => a.at - b.at);
  const [searchedWords, all, first] = [new Set<string>(), [] as number[], [] as number[]];
  for (const { word } of searchOrder) {
    const sortField = sortFields[Math.floor(random() * sortFields.length)] ?? 'id';
    const { ms } = await search(postern, { searchWord: word, sortField, sortOrder: random() < 0.5 ? 'asc' : 'desc' }, key);
    all.push(ms);
    if (!searchedWords.has(word)) first.push(ms);
    searchedWords.add(word);
  }
  return { all, first };
}

/** Measures how long a count with LIKE on five fields of the shares of tenant 1 takes, for every fourth word. @returns durations in ms */
function measureLike(file: string): number[] {
  const database = new DatabaseSync(file, { readOnly: true });
  const count = database.prepare(
    `SELECT count(*) FROM share JOIN location ON location.id = share.location_id WHERE share.tid = 1
      AND (title LIKE :word OR description LIKE :word OR path LIKE :word OR location.name LIKE :word OR view_id LIKE :word)`,
  );
  const durations = words
    .filter((_, index) => index % 4 === 0)
    .map((word) => {
      const start = performance.now();
      count.get({ word: `%${word}%` });
      return performance.now() - start;
    });
  database.close();
  return durations;
}

const quantileFigure = (what: string, values: readonly number[], fraction: number, bound: number, reference = ''): Figure => ({
  ...atMost(`${what}, p${fraction * 100}`, percentile(values, fraction), bound, 'ms'),
  reference,
});

async function measurePages(note: Note, postern: BenchPostern): Promise<void> {
  const { total } = await search(postern, {});
  const [end, byCursor, first]: number[][] = [[], [], []];
  let after: string | undefined;
  for (let time = 0; time < 200 + warmUpRequests; time += 1) {
    const sortField = sortFields[time % sortFields.length] ?? 'id';
    const durations = { end: (await search(postern, { sortField, startIndex: total - 50 })).ms, first: 0, byCursor: 0 };
    durations.first = (await search(postern, { sortField: 'title' })).ms;
    const page = await search(postern, { sortField: 'title', ...(after === undefined ? { startIndex: total / 2 } : { after }) });
    after = page.next;
    durations.byCursor = page.ms;
    if (time < warmUpRequests) continue;
    end?.push(durations.end);
    byCursor?.push(durations.byCursor);
    first?.push(durations.first);
  }
  note(quantileFigure('the last page of 500,000', end ?? [], 0.99, 60));
  const extraTime = percentile(byCursor ?? [], 0.5) - percentile(first ?? [], 0.5);
  note({
    ...atMost('a page after a cursor in the middle of 500,000: extra time compared with the first page', Math.max(0, extraTime), 2, 'ms'),
    reference: `${percentile(first ?? [], 0.5).toFixed(1)} ms`,
  });
}

/** Measures how long other requests wait while long searches run. */
async function measureOtherRequests(note: Note, postern: BenchPostern): Promise<void> {
  const others = async () => {
    const { latency } = await autocannon({
      ...{ url: `${postern.url}/api/v1/share/get`, method: 'POST', headers: postern.authorization, body: '{"id":1}' },
      ...{ connections: 2, duration: 5 },
    });
    return latency.p99;
  };
  await others();
  const idle = await others();
  let isOver = false;
  const searchRepeatedly = async () => {
    for (let time = 0; !isOver; time += 1)
      await search(postern, { searchWord: `2${time % 10}`, sortField: 'description', startIndex: time });
  };
  const searches = [searchRepeatedly(), searchRepeatedly()];
  const busy = await others();
  isOver = true;
  await Promise.all(searches);
  note({
    ...atMost('p99 of share/get while long searches run', busy / Math.max(1, idle), 3, 'times'),
    reference: `${idle} ms`,
    ours: `${busy} ms`,
    ratio: (busy / Math.max(1, idle)).toFixed(2),
  });
}

/** Measures share/get, the smallest request, one call after the other. @returns durations in ms */
async function measureShareGets(postern: BenchPostern): Promise<number[]> {
  const durations: number[] = [];
  for (let time = 0; time < 250; time += 1) {
    const start = performance.now();
    await postern.call('share/get', { id: 1 });
    if (time >= warmUpRequests) durations.push(performance.now() - start);
  }
  return durations;
}

/** Adds an API key of a tenant with few shares. @returns the key */
async function addSmallTenantKey(postern: BenchPostern): Promise<string> {
  const response = await postern.call('apikey/add', { name: `bench ${Date.now()}`, role: 'reader', tid: 2 });
  return String(Reflect.get(response, 'key'));
}

/** Measures searches among a million records, half of them of one tenant, in the embedded database. */
export async function measureSearches(note: Note, postern: BenchPostern, file: string): Promise<void> {
  const like = `${percentile(measureLike(file), 0.5).toFixed(0)} ms by five LIKEs`;
  await search(postern, { searchWord: 'warm' });
  const { all, first } = await measureWordSearches(postern);
  note(quantileFigure('a word in 500,000 of 1,000,000', all, 0.5, 50, like));
  note(quantileFigure('a word in 500,000 of 1,000,000', all, 0.99, 250));
  note(quantileFigure('a word in 500,000 of 1,000,000, for the first time', first, 0.99, 250));
  const key = await addSmallTenantKey(postern);
  await measureWordSearches(postern, key);
  const shareGet = `${percentile(await measureShareGets(postern), 0.99).toFixed(1)} ms for share/get`;
  note(quantileFigure('a word in 5,000 of 1,000,000', (await measureWordSearches(postern, key)).all, 0.99, 10, shareGet));
  await measurePages(note, postern);
  await measureOtherRequests(note, postern);
  note(atMost('memory with 1,000,000 records, searched', postern.memory().most, 350, 'MiB'));
}

/** Measures searches among ten million records, half of them of one tenant, on PostgreSQL. */
export async function measureLargeSearches(note: Note, postern: BenchPostern): Promise<void> {
  const { all } = await measureWordSearches(postern);
  note(quantileFigure('a word in 5,000,000 of 10,000,000, PostgreSQL', all, 0.5, 150));
  const [first, later]: number[][] = [[], []];
  for (const searchWord of ['offer', 'minutes', 'ra', 'ap', 'mo'])
    for (const [index, more] of [
      {},
      { startIndex: 50 },
      { sortField: 'title' },
      { sortField: 'updateDateTime', sortOrder: 'desc' },
    ].entries())
      (index === 0 ? first : later)?.push((await search(postern, { searchWord, ...more })).ms);
  note(quantileFigure('a common or short word for the first time, PostgreSQL', first ?? [], 0.99, 5000));
  note(quantileFigure('a common or short word: later pages and other sort orders, PostgreSQL', later ?? [], 0.99, 500));
}
