import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { atMost, type Figure } from './figures.ts';
import type { BenchPostern } from './postern.ts';
import { startServer } from './process.ts';

async function p99(postern: BenchPostern, viewId: string): Promise<number> {
  const { latency } = await autocannon({ url: `${postern.url}/s/${viewId}/visit`, connections: 4, duration: 10 });
  return latency.p99;
}

const maxReaders = 10_000;
/**
 * Returns how many readers this machine can hold. Each one needs two file descriptors and, because both ends of the
 * connection are on this machine, about 4.5 MiB of kernel memory.
 */
function readersThatFit(): number {
  const files = Number(/Max open files\s+(\d+)/.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]);
  const pages = Number(readFileSync('/proc/sys/net/ipv4/tcp_mem', 'utf8').split(/\s+/)[1]);
  return Math.floor(Math.min((files - 1000) / 2, (pages * 4096) / (4.5 * 2 ** 20)));
}

/** Measures the effect of slow downloads on other requests. Runs as many downloads as fit, up to `maxReaders`. */
export async function measureSlowReaders(note: (figure: Figure) => void, postern: BenchPostern, viewId: string): Promise<void> {
  const readerCount = Math.min(maxReaders, readersThatFit());
  await p99(postern, viewId);
  const alone = Math.max(1, await p99(postern, viewId));
  const script = join(import.meta.dirname, 'servers/slow-readers.ts');
  await using readers = await startServer(script, [`${postern.url}/s/${viewId}/file/1g.bin`, String(readerCount)], {}, /ready (\d+)/);
  const withReaders = await p99(postern, viewId);
  const { now } = postern.memory();
  note({
    ...atMost(`p99 of a visit with ${readers.capturedText} slow readers connected`, withReaders / alone, 2, 'times'),
    reference: `${alone} ms`,
    ours: `${withReaders} ms, ${Math.round(now)} MiB`,
    ratio: (withReaders / alone).toFixed(2),
  });
}
