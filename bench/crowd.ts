import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import autocannon from 'autocannon';
import { atMost, type Figure } from './figures.ts';
import type { BenchPostern } from './postern.ts';

/** Downloads that are begun and read at some KB a second. */
async function slowReaders(url: string, many: number): Promise<{ left: () => number; leave: () => void }> {
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
  let [asked, gone] = [0, 0];
  const responses: { destroy(): void; read(): unknown }[] = [];
  const reading = setInterval(() => {
    for (const response of responses) response.read();
  }, 2000);
  await new Promise<void>((resolve) => {
    const answered = () => {
      asked += 1;
      if (asked === many) resolve();
    };
    for (let number = 0; number < many; number += 1)
      setTimeout(() => {
        get(url, { agent }, (response) => {
          response.pause();
          response.on('error', () => {
            gone += 1;
          });
          responses.push(response);
          answered();
        }).on('error', answered);
      }, number * 2);
  });
  return {
    left: () => responses.length - gone,
    leave() {
      clearInterval(reading);
      for (const response of responses) response.destroy();
      agent.destroy();
    },
  };
}

async function p99(postern: BenchPostern, viewId: string): Promise<number> {
  const { latency } = await autocannon({ url: `${postern.url}/s/${viewId}/visit`, connections: 4, duration: 10 });
  return latency.p99;
}

const most = 10_000;
/** Each reader is a connection and an open file of the server, and here, where both ends are one machine, a MiB of the kernel's. */
function allowed(): number {
  const files = Number(/Max open files\s+(\d+)/.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]);
  const pages = Number(readFileSync('/proc/sys/net/ipv4/tcp_mem', 'utf8').split(/\s+/)[1]);
  return Math.floor(Math.min((files - 1000) / 2, (pages * 4096) / 2 ** 20));
}

/** What others notice of thousands who download slowly. */
export async function crowd(note: (figure: Figure) => void, postern: BenchPostern, viewId: string): Promise<void> {
  const many = Math.min(most, allowed());
  await p99(postern, viewId);
  const alone = Math.max(1, await p99(postern, viewId));
  const readers = await slowReaders(`${postern.url}/s/${viewId}/file/1g.bin`, many);
  const beside = await p99(postern, viewId);
  const { now } = postern.memory();
  const left = readers.left();
  readers.leave();
  note({
    ...atMost(`p99 of a visit beside ${left} slow readers`, beside / alone, 2, 'times'),
    reference: `${alone} ms`,
    ours: `${beside} ms, ${Math.round(now)} MiB`,
    ratio: (beside / alone).toFixed(2),
  });
}
