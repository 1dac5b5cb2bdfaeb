import { startThread } from '#adapters/os/thread.ts';
import type { Checkpointed } from './checkpoint-thread.ts';
import type { WriteAheadLog } from './write-ahead-log.ts';
import type { WriteQueue } from './write-queue.ts';

const every = 1000; // ms
const worthwhile = 1000; // pages: below, the file is small enough to be left

/**
 * Copies the write-ahead log into the database from a thread of its own: first beside the writing, then, for the rest,
 * while changes wait. SQLite's automatic checkpoint swallows the disk's errors; this one does not.
 */
export function startCheckpoints(file: string, queue: WriteQueue, log: WriteAheadLog, lost: (cause: unknown) => void): AsyncDisposable {
  const thread = startThread('./checkpoint-thread', import.meta.url, file);
  thread.on('error', lost).on('exit', lost);
  thread.unref();
  const ask = (mode: 'NOOP' | 'PASSIVE' | 'RESTART') =>
    new Promise<Checkpointed>((resolve) => {
      thread.once('message', resolve).postMessage(mode);
    });
  async function checkpoint(): Promise<void> {
    if ((await ask('NOOP')).log < worthwhile) return;
    await ask('PASSIVE');
    await queue.pause(async () => {
      await ask('RESTART');
    });
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
      await under;
      thread.off('error', lost).off('exit', lost);
      await thread.terminate();
    },
  };
}
