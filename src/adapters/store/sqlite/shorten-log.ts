import { setTimeout } from 'node:timers/promises';
import type { CheckpointMode } from './checkpoint-thread.ts';
import type { Searcher } from './search/searcher.ts';
import type { WriteAheadLog } from './write-ahead-log.ts';
import type { WriteQueue } from './write-queue.ts';

const longest = 64 << 20; // bytes
const heldFor = 1000; // ms at most that searches wait for a log of that length, and in proportion for a longer one
const rest = 4; // times as long as they waited, before they do so again

/** What reads and writes the log. */
export interface LogUsers {
  readonly log: WriteAheadLog;
  readonly queue: WriteQueue;
  /** The threads that read the database. */
  readonly searchers: readonly Searcher[];
}

/**
 * Returns a function that shortens a long write-ahead log. SQLite begins it anew only while nobody reads from it: where
 * one long search follows another it would grow until the disk is full, so searches are held back for a moment.
 * An empty log also makes a start skip the check for damage (damage-check.ts): all that it held is in the database then.
 * @param stopped aborted when the store is closed: nobody waits for a search any more
 */
export function logShortener(
  { log, queue, searchers }: LogUsers,
  checkpoint: (mode: CheckpointMode) => Promise<unknown>,
  stopped: AbortSignal,
): () => Promise<void> {
  let notBefore = 0; // performance.now()

  /** @returns whether all searches that ran have ended in time */
  async function areIdle(idle: readonly Promise<void>[], most: number): Promise<boolean> {
    const late = new AbortController();
    const waited = setTimeout(most, false, { signal: AbortSignal.any([late.signal, stopped]), ref: false }).catch(() => false);
    try {
      return await Promise.race([Promise.all(idle).then(() => true), waited]);
    } finally {
      late.abort();
    }
  }
  return async () => {
    const [length, start] = [log.bytes(), performance.now()];
    if (length < longest || start < notBefore) return;
    const holds = searchers.map((searcher) => searcher.hold());
    try {
      const idle = holds.map((hold) => hold.idle);
      if (!(await areIdle(idle, (heldFor * length) / longest))) return;
      await checkpoint('PASSIVE'); // beside the writing, so that changes wait for little
      await queue.pause(async () => void (await checkpoint('TRUNCATE')));
    } finally {
      for (const hold of holds) hold.release();
      notBefore = performance.now() + rest * (performance.now() - start);
    }
  };
}
