import { operations } from '../src/features/operations.ts';
import type { Figure } from './figures.ts';
import { type Answer, callWithLongestInputs } from './longest-inputs.ts';
import type { BenchPostern } from './postern.ts';

const times = 3; // each call; the least counts, since whatever else happens only adds
const sampledEvery = 10; // ms: what the event loop's delay is counted in

interface Cost {
  readonly call: string;
  /** ms that the event loop stood still, so that nobody else was answered. */
  readonly held: number;
  /** ms until the answer. */
  readonly whole: number;
}

const isQuestion = (operation: string) => /\/(search|browse|export)$|^(caller|overview)\/get$|getPolicy$/.test(operation);

/** The longest time that the event loop stood still since it was last asked; ms. */
async function longestHold({ url, authorization }: BenchPostern): Promise<number> {
  const text = await (await fetch(`${url}/metrics`, { headers: authorization })).text();
  return Number(/^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(text)?.[1]) * 1000;
}

function ask({ url, authorization }: BenchPostern, operation: string, body: object): Promise<Response> {
  const address = `${url}/api/v1/${operation}`;
  const method = /\/delete/.test(operation) ? 'DELETE' : 'POST';
  if (!isQuestion(operation)) return fetch(address, { method, headers: authorization, body: JSON.stringify(body) });
  return fetch(`${address}?${new URLSearchParams(Object.entries(body).map(([name, value]) => [name, String(value)]))}`, {
    headers: authorization,
  });
}

async function costsOf(postern: BenchPostern): Promise<readonly Cost[]> {
  const costs: Cost[] = [];
  const called = new Set<string>();
  let sent = 0;
  await callWithLongestInputs(async (operation, body, what = '') => {
    called.add(operation);
    let [held, whole, status] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 0];
    let answer: Answer;
    for (let time = 0; time < times; time += 1) {
      const input = typeof body === 'function' ? body(sent) : body;
      sent += 1;
      await longestHold(postern);
      const begun = performance.now();
      const response = await ask(postern, operation, input);
      const text = await response.text();
      whole = Math.min(whole, performance.now() - begun);
      held = Math.min(held, (await longestHold(postern)) - sampledEvery);
      if (response.ok || status === 0) {
        status = response.status;
        answer = /^[[{]/.test(text) && operation !== 'audit/export' ? JSON.parse(text) : undefined;
      }
    }
    if (status >= 400 && !what.endsWith('refused')) throw new Error(`${operation} is refused: ${JSON.stringify(answer)}`);
    costs.push({ call: `${operation}${what === '' ? '' : `, ${what}`} (${status})`, held, whole });
    return answer;
  });
  const left = operations.filter(({ name }) => !called.has(name)).map(({ name }) => name);
  if (left.length > 0) throw new Error(`not called: ${left.join(', ')}`);
  return costs;
}

/** ms that reading a JSON body of a megabyte takes: as long as the interface takes. */
function readingOfMegabyte(): number {
  const text = JSON.stringify(Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`name${index}`, index])));
  const takes = Array.from({ length: 9 }, () => {
    const begun = performance.now();
    JSON.parse(text);
    return performance.now() - begun;
  });
  return Math.min(...takes);
}

/** The costliest calls of all operations with the longest inputs: so that none becomes costly unseen. */
export async function costs(note: (figure: Figure) => void, postern: BenchPostern, engine: string): Promise<void> {
  const all = await costsOf(postern);
  const unit = readingOfMegabyte();
  const figure = (what: string, of: 'held' | 'whole', target: number) => {
    const sorted = all.toSorted((a, b) => b[of] - a[of]);
    for (const { call, [of]: cost } of sorted.slice(0, 8)) console.log(`         ${cost.toFixed(0)} ms: ${call}`);
    const [worst] = sorted;
    if (!worst) return;
    const ratio = worst[of] / unit;
    note({
      what: `${engine}, ${all.length} calls with the longest inputs: ${what}`,
      reference: `${unit.toFixed(1)} ms`,
      ours: `${worst[of].toFixed(0)} ms: ${worst.call}`,
      ratio: ratio.toFixed(0),
      target: `at most ${target}`,
      holds: ratio <= target,
    });
  };
  figure('the event loop held, in times of reading 1 MB of JSON', 'held', 15);
  figure('the whole answer, likewise', 'whole', 100);
}
