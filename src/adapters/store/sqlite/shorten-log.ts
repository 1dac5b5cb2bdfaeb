import { setTimeout } from 'node:timers/promises';
import type { CheckpointMode } from './checkpoint-thread.ts';
import type { SearchThread } from './search/search-thread-client.ts';
import type { WriteAheadLog } from './write-ahead-log.ts';
import type { WriteQueue } from './write-queue.ts';

const maxBytes = 64 << 20; // of the log; a longer one is shortened
const maxHold = 1000; // ms to wait for running searches, for a log of `maxBytes`; proportionally longer for a longer log
const restFactor = 4; // after a hold, the next one must wait for this many times its duration

/** The parts that read and write the log. */
export interface WalUsers {
  readonly log: WriteAheadLog;
  readonly queue: WriteQueue;
  /** The threads that read the database. */
  readonly searchers: readonly SearchThread[];
}

/**
 * Returns a function that shortens a long write-ahead log. SQLite starts the log again from its beginning only while
 * nobody reads from it. If there were always a running search, the log would grow until the disk is full, so searches are
 * held back for a moment. An empty log also means that all its changes are in the database: the next start then skips
 * the check for damage (damage-check.ts).
 * @param stopSignal aborted when the store closes: the function then no longer waits for searches
 */
export function walShortener(
  { log, queue, searchers }: WalUsers,
  checkpoint: (mode: CheckpointMode) => Promise<unknown>,
  stopSignal: AbortSignal,
): () => Promise<void> {
  let notBefore = 0; // performance.now()

  /** @param timeout ms @returns whether all running searches ended before the timeout */
  async function waitUntilIdle(idle: readonly Promise<void>[], timeout: number): Promise<boolean> {
    const timer = new AbortController();
    const signal = AbortSignal.any([timer.signal, stopSignal]);
    const timeoutResult = setTimeout(timeout, false, { signal, ref: false }).catch(() => false);
    try {
      return await Promise.race([Promise.all(idle).then(() => true), timeoutResult]);
    } finally {
      timer.abort();
    }
  }
  return async () => {
    const [length, start] = [log.bytes(), performance.now()];
    if (length < maxBytes || start < notBefore) return;
    const holds = searchers.map((searcher) => searcher.hold());
    try {
      const idle = holds.map((hold) => hold.idle);
      if (!(await waitUntilIdle(idle, (maxHold * length) / maxBytes))) return;
      await checkpoint('PASSIVE'); // changes continue meanwhile, and wait only for the second checkpoint
      await queue.pause(async () => void (await checkpoint('TRUNCATE')));
    } finally {
      for (const hold of holds) hold.release();
      notBefore = performance.now() + restFactor * (performance.now() - start);
    }
  };
}
