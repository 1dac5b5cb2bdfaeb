import { statSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';
import { startThread } from '#adapters/os/thread.ts';
import type { CheckpointAnswer, CheckpointMode } from './checkpoint-thread.ts';
import type { DiskEvents } from './disk-events.ts';
import { type LogUsers, logShortener } from './shorten-log.ts';

const every = 1000; // ms
const worthwhile = 1000; // pages: below, the log is short enough to be left
const pageBytes = 4096;

/**
 * Copies the write-ahead log into the database from a thread of its own: first beside the writing, then, for the rest,
 * while changes wait. SQLite's automatic checkpoint swallows the disk's errors; this one does not.
 */
export function startCheckpoints(file: string, users: LogUsers, { lost, full }: DiskEvents): AsyncDisposable {
  const { log, queue } = users;
  let thread: Worker | undefined;
  const begun = () => {
    const worker = startThread('./checkpoint-thread', import.meta.url, file);
    worker.on('error', lost).on('exit', lost);
    worker.unref();
    return worker;
  };
  const ask = (mode: CheckpointMode) =>
    new Promise<CheckpointAnswer>((resolve) => {
      thread ??= begun();
      thread.once('message', resolve).postMessage(mode);
    });
  const stopped = new AbortController();
  const shorten = logShortener(users, ask, stopped.signal);
  async function checkpoint(): Promise<void> {
    // The tables of a new database are in the log alone: without it, nothing would be left of the installation.
    const isNew = statSync(file, { throwIfNoEntry: false })?.size === pageBytes;
    const enough = isNew ? 1 : worthwhile;
    // The file never shrinks: until it has once grown long there is nothing to ask, and nobody to be asked.
    if (log.bytes() < enough * pageBytes) return;
    const state = await ask('NOOP');
    if (state === 'diskFull' || state.log < enough) return;
    if ((await ask('PASSIVE')) === 'diskFull') return void full(); // the next turn tries again
    await queue.pause(async () => {
      await ask('RESTART');
    });
    await shorten();
    log.verify();
  }
  let under: Promise<void> = Promise.resolve();
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    under = checkpoint()
      .catch(lost)
      .finally(() => {
        busy = false;
      });
  }, every);
  timer.unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      stopped.abort();
      await under;
      thread?.off('error', lost).off('exit', lost);
      await thread?.terminate();
    },
  };
}
