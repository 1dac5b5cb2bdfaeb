import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import autocannon from 'autocannon';
import { atMost, type Figure } from './figures.ts';
import type { BenchPostern } from './postern.ts';

/** Downloads that are begun and read at some KB a second. */
async function slowReaders(url: string, many: number): Promise<() => void> {
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
  let begun = 0;
  const responses: { destroy(): void; read(): unknown }[] = [];
  const reading = setInterval(() => {
    for (const response of responses) response.read();
  }, 5000);
  let over = false;
  await new Promise<void>((resolve, reject) => {
    for (let number = 0; number < many; number += 1)
      setTimeout(() => {
        get(url, { agent }, (response) => {
          response.pause();
          response.on('error', (cause) => {
            if (!over) throw cause;
          });
          responses.push(response);
          begun += 1;
          if (begun === many) resolve();
        }).on('error', (cause) => (begun < many ? reject(cause) : undefined));
      }, number / 4);
  });
  return () => {
    over = true;
    clearInterval(reading);
    for (const response of responses) response.destroy();
    agent.destroy();
  };
}

async function p99(postern: BenchPostern, viewId: string): Promise<number> {
  const { latency } = await autocannon({ url: `${postern.url}/s/${viewId}/visit`, connections: 4, duration: 10 });
  return latency.p99;
}

const most = 10_000;
/** Each reader is a connection and an open file of the server. */
const allowed = () => Math.floor((Number(/Max open files\s+(\d+)/.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]) - 1000) / 2);

/** What others notice of thousands who download slowly. */
export async function crowd(note: (figure: Figure) => void, postern: BenchPostern, viewId: string): Promise<void> {
  const many = Math.min(most, allowed());
  await p99(postern, viewId);
  const alone = Math.max(1, await p99(postern, viewId));
  const leave = await slowReaders(`${postern.url}/s/${viewId}/file/1g.bin`, many);
  const beside = await p99(postern, viewId);
  const { now } = postern.memory();
  leave();
  note({
    ...atMost(`p99 of a visit beside ${many} slow readers`, beside / alone, 2, 'times'),
    reference: `${alone} ms`,
    ours: `${beside} ms, ${Math.round(now)} MiB`,
    ratio: (beside / alone).toFixed(2),
  });
}
