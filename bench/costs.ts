import { operations } from '../src/features/operations.ts';
import { shareBody } from '../test/parts/share-body.ts';
import type { Figure } from './figures.ts';
import { callWithLongestInputs } from './longest-inputs.ts';
import { fillFolder, visitWithLongestInputs } from './longest-visits.ts';
import { type BenchPostern, sampleInterval } from './postern.ts';

const times = 3; // runs of each call; the lowest value counts, since other load only adds time

interface Cost {
  readonly call: string;
  /** How long the event loop was blocked, in ms. */
  readonly blockedTime: number;
  /** Time until the response, in ms. */
  readonly responseTime: number;
}

const methods = new Map<string, string>(operations.map(({ name, method }) => [name, method]));

/** Returns the longest time that the event loop was blocked since `/metrics` was last read, in ms, plus `sampleInterval`. */
async function longestLoopDelay({ url, authorization }: BenchPostern): Promise<number> {
  const text = await (await fetch(`${url}/metrics`, { headers: authorization })).text();
  return Number(/^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(text)?.[1]) * 1000;
}

function sendRequest({ url, authorization }: BenchPostern, operation: string, body: object): Promise<Response> {
  const address = `${url}/api/v1/${operation}`;
  const method = methods.get(operation) ?? 'POST';
  if (method !== 'GET') return fetch(address, { method, headers: authorization, body: JSON.stringify(body) });
  return fetch(`${address}?${new URLSearchParams(Object.entries(body).map(([name, value]) => [name, String(value)]))}`, {
    headers: authorization,
  });
}

/**
 * Sends a request several times.
 * @returns its cost, and the last successful response. If none was successful, the last response
 */
async function measureCost(
  postern: BenchPostern,
  call: string,
  send: () => Promise<Response>,
): Promise<Cost & { response: Response; text: string }> {
  const results: (Cost & { response: Response; text: string })[] = [];
  for (let time = 0; time < times; time += 1) {
    await longestLoopDelay(postern);
    const start = performance.now();
    const response = await send();
    const text = await response.text();
    const responseTime = performance.now() - start;
    const blockedTime = (await longestLoopDelay(postern)) - sampleInterval;
    results.push({ call: `${call} (${response.status})`, blockedTime, responseTime, response, text });
  }
  const successful = results.filter(({ response }) => response.ok);
  const countedResults = successful.length > 0 ? successful : results;
  const smallest = (of: 'blockedTime' | 'responseTime') => Math.min(...countedResults.map(({ [of]: cost }) => cost));
  const last = countedResults.at(-1);
  if (!last) throw new Error('no request was sent');
  return { ...last, blockedTime: smallest('blockedTime'), responseTime: smallest('responseTime') };
}

async function costsOfOperations(postern: BenchPostern): Promise<readonly Cost[]> {
  const costs: Cost[] = [];
  const calledNames = new Set<string>();
  let sentCount = 0;
  await callWithLongestInputs(async (operation, body, what) => {
    calledNames.add(operation);
    const cost = await measureCost(postern, what === undefined ? operation : `${operation}, ${what}`, () => {
      sentCount += 1;
      return sendRequest(postern, operation, typeof body === 'function' ? body(sentCount) : body);
    });
    if (!cost.response.ok && !what?.endsWith('refused')) throw new Error(`${cost.call}: ${cost.text}`);
    costs.push(cost);
    return operation === 'audit/export' ? undefined : JSON.parse(cost.text || 'null');
  });
  const missing = operations.filter(({ name }) => !calledNames.has(name)).map(({ name }) => name);
  if (missing.length > 0) throw new Error(`not called: ${missing.join(', ')}`);
  return costs;
}

async function costsOfVisits(postern: BenchPostern, files: string): Promise<readonly Cost[]> {
  const { viewId } = await postern.call('share/add', shareBody);
  fillFolder(files);
  const costs: Cost[] = [];
  await visitWithLongestInputs(async (what, path, init) => {
    costs.push(await measureCost(postern, what, () => fetch(`${postern.url}/s/${viewId}${path}`, init)));
  });
  return costs;
}

/** Returns the time in ms to parse about one megabyte of JSON, the maximum length of a body. */
function timeToParseMegabyte(): number {
  const text = JSON.stringify(Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`name${index}`, index])));
  const durations = Array.from({ length: 9 }, () => {
    const start = performance.now();
    JSON.parse(text);
    return performance.now() - start;
  });
  return Math.min(...durations);
}

/**
 * Measures all operations and the costly routes of a link with the longest inputs, and prints the costliest calls.
 * @param files folder of the location
 */
export async function measureCosts(note: (figure: Figure) => void, postern: BenchPostern, files: string, engine: string): Promise<void> {
  const unit = timeToParseMegabyte();
  function noteWorst(all: readonly Cost[], of: 'blockedTime' | 'responseTime', what: string, target: number): void {
    const sorted = all.toSorted((a, b) => b[of] - a[of]);
    for (const { call, [of]: cost } of sorted.slice(0, 5)) console.log(`         ${cost.toFixed(0)} ms: ${call}`);
    const [costliest] = sorted;
    if (!costliest) return;
    const ratio = costliest[of] / unit;
    note({
      what: `${engine}, ${all.length} ${what}`,
      reference: `${unit.toFixed(1)} ms`,
      ours: `${costliest[of].toFixed(0)} ms: ${costliest.call}`,
      ratio: ratio.toFixed(1),
      target: `at most ${target}`,
      holds: ratio <= target,
    });
  }
  const calls = await costsOfOperations(postern);
  noteWorst(
    calls,
    'blockedTime',
    'calls with the longest inputs: time that the event loop is blocked, as a multiple of parsing 1 MB of JSON',
    15,
  );
  noteWorst(calls, 'responseTime', 'calls with the longest inputs: time until the response, as a multiple of parsing 1 MB of JSON', 100);
  noteWorst(
    await costsOfVisits(postern, files),
    'blockedTime',
    'visits with the longest inputs: time that the event loop is blocked, as a multiple of parsing 1 MB of JSON',
    15,
  );
}
