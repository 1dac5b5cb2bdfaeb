import fs from 'node:fs';
import { promisify } from 'node:util';
import type { Worker } from 'node:worker_threads';
import { startThread } from '#adapters/os/thread.ts';
import type { Entry } from '#core/listing.ts';
import type { OpenFile } from '#ports/storage.ts';
import type { Root } from './beneath.ts';
import { failure, storageError } from './disk-errors.ts';
import type { AskFile, ToldFile } from './read-thread.ts';
import { smallFiles } from './small-files.ts';

const read = promisify(fs.read);
const close = promisify(fs.close);

/**
 * Opens files in a thread of the location's own: one hop for all its system calls, and a hung disk holds up nobody
 * else. What is asked for in one turn of the event loop goes to it together: waking it costs more than its system calls.
 */
export interface Reader extends AsyncDisposable {
  /** null: no file lies there. */
  open(path: readonly string[]): Promise<OpenFile | null>;
  /** null: neither file nor folder lies there. */
  stat(path: readonly string[]): Promise<Entry | null>;
}

const wholeFile = (entry: Entry, whole: Uint8Array): OpenFile => ({
  entry,
  whole,
  async read(into, position) {
    const part = whole.subarray(position, position + into.length);
    into.set(part);
    return part.length;
  },
  close: async () => {},
});

const openedFile = (entry: Entry, descriptor: number): OpenFile => ({
  entry,
  async read(into, position) {
    try {
      return (await read(descriptor, into, 0, into.length, position)).bytesRead;
    } catch (cause) {
      throw storageError(cause);
    }
  },
  close: () => close(descriptor),
});

function fileOf(told: Told, known: OpenFile | null): OpenFile | null {
  switch (told.is) {
    case 'entry':
    case 'absent':
      return null;
    case 'known':
      return known;
    case 'open':
      return openedFile(told.entry, told.descriptor);
    case 'whole':
      return wholeFile(told.entry, told.bytes);
  }
}

type Told = Exclude<ToldFile, { is: 'problem' }>;

interface Waiting {
  readonly ask: AskFile;
  readonly tell: (told: ToldFile) => void;
}

export function fileReader(root: Root): Reader {
  const kept = smallFiles<OpenFile>();
  let next: Waiting[] = [];
  let asked: Waiting[][] = [];
  let thread: Worker | undefined;
  function begin(): Worker {
    const begun = startThread('./read-thread', import.meta.url, root);
    begun.on('message', (answers: readonly ToldFile[]) => {
      const answered = asked.shift() ?? [];
      if (asked.length === 0) begun.unref();
      for (const [index, told] of answers.entries()) answered[index]?.tell(told);
    });
    const end = () => {
      thread = undefined;
      const lost = asked.flat();
      asked = [];
      for (const { tell } of lost) tell({ is: 'problem', code: 'EIO' });
    };
    begun.on('error', end).on('exit', end);
    return begun;
  }
  function send(): void {
    const batch = next;
    next = [];
    asked.push(batch);
    thread ??= begin();
    thread.ref();
    thread.postMessage(batch.map(({ ask }) => ask));
  }
  /** @throws what the thread's system calls answered */
  async function asking(ask: AskFile): Promise<Told> {
    const told = await new Promise<ToldFile>((tell) => {
      next.push({ ask, tell });
      if (next.length === 1) setImmediate(send);
    });
    if (told.is === 'problem') throw failure(told.code);
    return told;
  }
  return {
    async stat(segments) {
      const told = await asking({ path: segments.join('/'), entryOnly: true });
      return told.is === 'entry' ? told.entry : null;
    },
    async open(segments) {
      const path = segments.join('/');
      const known = kept.get(path);
      const told = await asking(known ? { path, known: known.entry.etag } : { path });
      const file = fileOf(told, known);
      if (told.is === 'whole' && told.settled && file) kept.keep(path, file, told.bytes.length);
      return file;
    },
    async [Symbol.asyncDispose]() {
      await thread?.terminate();
    },
  };
}
