import { statSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';
import { startThread } from '#adapters/os/thread.ts';
import type { CheckpointMode, CheckpointResponse } from './checkpoint-thread.ts';
import type { DiskEvents } from './disk-events.ts';
import { type WalUsers, walShortener } from './shorten-log.ts';

const interval = 1000; // ms
const minPages = 1000; // a shorter log need not be copied
const pageBytes = 4096;

/**
 * Starts the checkpoints. A thread copies the write-ahead log into the database: first while changes continue, then the rest while
 * changes wait. SQLite's automatic checkpoint ignores errors of the disk; this one does not.
 */
export function startCheckpoints(file: string, users: WalUsers, { onLost, freeSpace }: DiskEvents): AsyncDisposable {
  const { log, queue } = users;
  let thread: Worker | undefined;
  const startWorker = () => {
    const worker = startThread('./checkpoint-thread', import.meta.url, file);
    worker.on('error', onLost).on('exit', onLost);
    worker.unref();
    return worker;
  };
  const request = (mode: CheckpointMode) =>
    new Promise<CheckpointResponse>((resolve) => {
      thread ??= startWorker();
      thread.once('message', resolve).postMessage(mode);
    });
  const abortController = new AbortController();
  const shorten = walShortener(users, request, abortController.signal);
  async function checkpoint(): Promise<void> {
    // The tables of a new database exist only in the log: if the log were lost, the installation would be lost with it.
    const isNew = statSync(file, { throwIfNoEntry: false })?.size === pageBytes;
    const threshold = isNew ? 1 : minPages;
    // The log is never longer than its file: with a short file, neither a query nor a thread is needed.
    if (log.bytes() < threshold * pageBytes) return;
    const state = await request('NOOP');
    if (state === 'diskFull' || state.log < threshold) return;
    if (state.checkpointed === state.log) return shorten(); // nothing was written since the last checkpoint
    if ((await request('PASSIVE')) === 'diskFull') return void freeSpace(); // the next checkpoint tries again
    let mustShorten = false;
    await queue.pause(async () => {
      const response = await request('RESTART');
      mustShorten = response !== 'diskFull' && response.busy === 1; // something such as a search still reads the log, so it would grow
    });
    if (mustShorten) await shorten();
    log.verify();
  }
  let currentCheckpoint: Promise<void> = Promise.resolve();
  let isRunning = false;
  const timer = setInterval(() => {
    if (isRunning) return;
    isRunning = true;
    currentCheckpoint = checkpoint()
      .catch(onLost)
      .finally(() => {
        isRunning = false;
      });
  }, interval);
  timer.unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      abortController.abort();
      await currentCheckpoint;
      thread?.off('error', onLost).off('exit', onLost);
      await thread?.terminate();
    },
  };
}
