import { join } from 'node:path';
import { memoryFlags } from '../scripts/memory-flags.mjs';
import { type MeasuredServer, startServer } from './process.ts';

const key = 'pst_bench-admin-key';
const main = join(import.meta.dirname, '../build/server/main.js');

/** A Postern in its own process. */
export interface BenchPostern extends MeasuredServer {
  readonly authorization: Record<string, string>;
  call(name: string, body: object): Promise<{ id: number; viewId: string }>;
}

/** Starts Postern with the memory options of `scripts/start.mjs`. */
export async function startPostern(data: string, environment: Record<string, string> = {}): Promise<BenchPostern> {
  const server = await startServer(
    main,
    [],
    { PORT: '0', POSTERN_DATA: data, POSTERN_API_KEY: key, MALLOC_ARENA_MAX: '2', ...environment },
    /links begin with http:\/\/localhost:(\d+)/,
    memoryFlags,
  );
  const authorization = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return {
    ...server,
    authorization,
    async call(name, body) {
      const response = await fetch(`${server.url}/api/v1/${name}`, { method: 'POST', headers: authorization, body: JSON.stringify(body) });
      if (!response.ok) throw new Error(await response.text());
      return JSON.parse(await response.text());
    },
  };
}

/** ms. Node.js includes this interval in each delay of the event loop that it reports. */
export const sampleInterval = 10;

/** Returns the 99th percentile of the event loop's delay since `/metrics` was last read, in ms, without `sampleInterval`. */
export async function loopDelay(postern: BenchPostern): Promise<number> {
  const text = await (await fetch(`${postern.url}/metrics`, { headers: postern.authorization })).text();
  return Number(/^nodejs_eventloop_lag_p99_seconds (\S+)/m.exec(text)?.[1]) * 1000 - sampleInterval;
}

/** Returns the 99th percentile of the delay of the event loop of `servers/bare.ts` since the last call, in ms. */
export async function bareLoopDelay({ url }: MeasuredServer): Promise<number> {
  return Number(await (await fetch(`${url}/delay`)).text()) - sampleInterval;
}
