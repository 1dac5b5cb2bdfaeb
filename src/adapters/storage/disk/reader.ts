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

/** Opens files in a thread of the location's own: one hop for all its system calls, and a hung disk holds up nobody else. */
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
  let thread: Worker | undefined;
  let last = 0;
  function begin(): Worker {
    const begun = startThread('./read-thread', import.meta.url, root);
    begun.on('message', (told: ToldFile) => {
      waiting.get(told.number)?.(told);
      waiting.delete(told.number);
      if (waiting.size === 0) begun.unref();
    });
    const end = () => {
      thread = undefined;
      for (const [number, tell] of waiting) tell({ number, problem: 'EIO' });
      waiting.clear();
    };
    begun.on('error', end).on('exit', end);
    return begun;
  }
  return {
    async open(path) {
      const told = await new Promise<ToldFile>((resolve) => {
        thread ??= begin();
        if (waiting.size === 0) thread.ref();
        last += 1;
        waiting.set(last, resolve);
        thread.postMessage({ number: last, path: [...path] } satisfies AskFile);
      });
      if (told.problem) throw failure(told.problem);
      return openFile(told);
    },
    async [Symbol.asyncDispose]() {
      await thread?.terminate();
    },
  };
}
