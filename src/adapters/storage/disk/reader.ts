import fs from 'node:fs';
import { promisify } from 'node:util';
import { idleThread } from '#adapters/os/idle-thread.ts';
import type { Entry } from '#core/listing.ts';
import type { OpenFile } from '#ports/storage.ts';
import { failure, storageError } from './disk-errors.ts';
import type { Root } from './open-within-root.ts';
import type { ReadRequest, ReadResponse } from './read-thread.ts';
import type { SmallFiles } from './small-files.ts';

const read = promisify(fs.read);
const close = promisify(fs.close);

/**
 * Opens files in a thread of the location's own: one hop for all its system calls, and a hung disk holds up nobody
 * else. What is asked for in one turn of the event loop goes to it together, and what several ask for goes to it once:
 * waking it costs more than its system calls.
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

function fileOf(told: Told, known: OpenFile | null, turn: number): OpenFile | null {
  switch (told.is) {
    case 'entry':
    case 'absent':
      return null;
    case 'known':
      return known;
    case 'open':
      return openedFile(told.entry, told.descriptors[turn] ?? -1);
    case 'whole':
      return wholeFile(told.entry, told.bytes);
  }
}

type Told = Exclude<ReadResponse, { is: 'problem' }>;

/** All who ask the same in one turn; each is told in which turn they asked. */
interface Question {
  readonly ask: Omit<ReadRequest, 'times'>;
  /** The file whose validator the question names. */
  readonly known: OpenFile | null;
  readonly tell: ((told: ReadResponse) => void)[];
}

function tellAll(questions: readonly Question[], told: ReadResponse): void {
  for (const tell of questions.flatMap((question) => question.tell)) tell(told);
}

export function fileReader(root: Root, kept: SmallFiles<OpenFile>): Reader {
  let next = new Map<string, Question>();
  let asked: Question[][] = [];
  const thread = idleThread<readonly ReadResponse[]>(
    './read-thread',
    import.meta.url,
    {
      receive(answers) {
        const answered = asked.shift() ?? [];
        if (asked.length === 0) thread.rest();
        for (const [index, told] of answers.entries()) for (const tell of answered[index]?.tell ?? []) tell(told);
      },
      lose() {
        const lost = asked.flat();
        asked = [];
        tellAll(lost, { is: 'problem', code: 'EIO' });
      },
      isIdle: () => asked.length === 0,
    },
    root,
  );
  function send(): void {
    const batch = [...next.values()];
    next = new Map();
    asked.push(batch);
    thread.post(batch.map(({ ask, tell }): ReadRequest => ({ ...ask, times: tell.length })));
  }
  function questionOf(path: string, entryOnly: boolean): Question {
    const key = `${entryOnly ? 'entry' : 'file'} ${path}`;
    const same = next.get(key);
    if (same) return same;
    const known = entryOnly ? null : kept.get(path);
    const question: Question = { ask: { path, entryOnly, ...(known ? { known: known.entry.etag } : {}) }, known, tell: [] };
    if (next.size === 0) setImmediate(send);
    next.set(key, question);
    return question;
  }
  /** @returns the answer, and how many asked the same before. @throws what the thread's system calls answered */
  async function answerTo(question: Question): Promise<{ told: Told; turn: number }> {
    const turn = question.tell.length;
    const told = await new Promise<ReadResponse>((tell) => question.tell.push(tell));
    if (told.is === 'problem') throw failure(told.code);
    return { told, turn };
  }
  return {
    async stat(segments) {
      const { told } = await answerTo(questionOf(segments.join('/'), true));
      return told.is === 'entry' ? told.entry : null;
    },
    async open(segments) {
      const path = segments.join('/');
      const question = questionOf(path, false);
      const { told, turn } = await answerTo(question);
      const file = fileOf(told, question.known, turn);
      if (told.is === 'whole' && told.settled && file) kept.keep(path, file, told.bytes.length);
      return file;
    },
    [Symbol.asyncDispose]: () => thread[Symbol.asyncDispose](),
  };
}
