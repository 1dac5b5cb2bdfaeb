import fs from 'node:fs';
import { promisify } from 'node:util';
import type { Worker } from 'node:worker_threads';
import { startThread } from '#adapters/os/thread.ts';
import type { OpenFile } from '#ports/storage.ts';
import type { Root } from './beneath.ts';
import { failure, storageError } from './disk-errors.ts';
import type { AskFile, ToldFile } from './read-thread.ts';

const read = promisify(fs.read);
const close = promisify(fs.close);

/**
 * Opens files in a thread of the location's own: one hop for all its system calls, and a hung disk holds up nobody
 * else. What is asked for while the thread is at work goes to it together: waking it costs more than its system calls.
 */
export interface Reader extends AsyncDisposable {
  /** null: no file lies there. */
  open(path: readonly string[]): Promise<OpenFile | null>;
}

function openFile({ entry, bytes, descriptor }: ToldFile): OpenFile | null {
  if (!entry) return null;
  if (descriptor === undefined) {
    const whole = bytes ?? new Uint8Array();
    return {
      entry,
      whole,
      async read(into, position) {
        const part = whole.subarray(position, position + into.length);
        into.set(part);
        return part.length;
      },
      close: async () => {},
    };
  }
  return {
    entry,
    async read(into, position) {
      try {
        return (await read(descriptor, into, 0, into.length, position)).bytesRead;
      } catch (cause) {
        throw storageError(cause);
      }
    },
    close: () => close(descriptor),
  };
}

export function fileReader(root: Root): Reader {
  const waiting = new Map<number, (told: ToldFile) => void>();
  let next: AskFile[] = [];
  let atWork = false;
  let thread: Worker | undefined;
  let last = 0;
  function begin(): Worker {
    const begun = startThread('./read-thread', import.meta.url, root);
    begun.on('message', (answers: readonly ToldFile[]) => {
      atWork = false;
      send();
      for (const told of answers) {
        waiting.get(told.number)?.(told);
        waiting.delete(told.number);
      }
      if (waiting.size === 0) begun.unref();
    });
    const end = () => {
      thread = undefined;
      atWork = false;
      next = [];
      for (const [number, tell] of waiting) tell({ number, problem: 'EIO' });
      waiting.clear();
    };
    begun.on('error', end).on('exit', end);
    return begun;
  }
  function send(): void {
    if (atWork || next.length === 0) return;
    atWork = true;
    thread ??= begin();
    thread.postMessage(next);
    next = [];
  }
  return {
    async open(path) {
      const told = await new Promise<ToldFile>((resolve) => {
        last += 1;
        next.push({ number: last, path });
        waiting.set(last, resolve);
        send();
        if (waiting.size === 1) thread?.ref();
      });
      if (told.problem) throw failure(told.problem);
      return openFile(told);
    },
    async [Symbol.asyncDispose]() {
      await thread?.terminate();
    },
  };
}
