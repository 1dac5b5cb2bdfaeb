import fs from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { Entry } from '#core/listing.ts';
import { codeOf, failure, rootGone } from './disk-errors.ts';
import { entryOf } from './entry.ts';
import { findWithinRootSync, isThereSync, type Root, reopenSync } from './open-within-root.ts';

/** Files up to this size come whole with the answer: 64 KiB more would cost others their turn. */
const wholeUpTo = 1 << 17;
/** A file's times tell a change only once they lie behind the clock's own steps; ms. */
const settledAfter = 1000;
const mostAttempts = 3; // at a file that becomes shorter while it is read

/** To the thread: the file at a path, its segments joined by slashes. */
export interface ReadRequest {
  readonly path: string;
  /** Validator of the bytes that the asker has. */
  readonly known?: string;
  /** What lies there is asked for, not its bytes. */
  readonly entryOnly: boolean;
  /** How many ask at once: a large file is opened for each. */
  readonly times: number;
}
/** From the thread, in the order of the questions. */
export type ReadResponse =
  | { readonly is: 'absent' | 'known' }
  | { readonly is: 'entry'; readonly entry: Entry }
  | { readonly is: 'problem'; readonly code: string }
  /** `settled`: the same validator will mean the same bytes. */
  | { readonly is: 'whole'; readonly entry: Entry; readonly bytes: Uint8Array<ArrayBuffer>; readonly settled: boolean }
  | { readonly is: 'open'; readonly entry: Entry; readonly descriptors: readonly number[] };

const root: Root = workerData;

/** All bytes of a file; null where it has become shorter: bytes that are missing would be answered as NUL. */
function readWhole(file: number, size: number): Uint8Array<ArrayBuffer> | null {
  const bytes = new Uint8Array(size);
  let filled = 0;
  for (let read = 1; read > 0 && filled < size; filled += read) read = fs.readSync(file, bytes, filled, size - filled, filled);
  return filled === size ? bytes : null;
}

/** One descriptor of its own for each who asks. */
function reopen(found: number, times: number): number[] {
  const opened: number[] = [];
  try {
    while (opened.length < times) opened.push(reopenSync(found));
    return opened;
  } catch (cause) {
    for (const descriptor of opened) fs.closeSync(descriptor);
    throw cause;
  }
}

const hasChanged = (before: fs.BigIntStats, after: fs.BigIntStats) =>
  before.mtimeNs !== after.mtimeNs || before.ctimeNs !== after.ctimeNs || before.size !== after.size;

function readFound(found: number, name: string, times: number): ReadResponse {
  const file = reopenSync(found);
  try {
    for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
      const stat = fs.fstatSync(file, { bigint: true });
      const entry = entryOf(name, stat);
      if (!entry || entry.folder) return { is: 'absent' };
      if (entry.size > wholeUpTo) return { is: 'open', entry, descriptors: reopen(found, times) };
      const bytes = readWhole(file, entry.size);
      // Cut and written anew in between, a file can be read with zeros that it never had.
      if (bytes && hasChanged(stat, fs.fstatSync(file, { bigint: true }))) continue;
      const changed = Math.max(Number(stat.mtimeMs), Number(stat.ctimeMs));
      if (bytes) return { is: 'whole', entry, bytes, settled: changed < Date.now() - settledAfter };
    }
    throw failure('EBUSY'); // somebody keeps cutting it
  } finally {
    fs.closeSync(file);
  }
}

function answer({ path, known, entryOnly, times }: ReadRequest): ReadResponse {
  const segments = path === '' ? [] : path.split('/');
  const name = segments.at(-1) ?? '';
  const found = findWithinRootSync(root, segments);
  try {
    const stat = fs.fstatSync(found, { bigint: true });
    const entry = entryOf(name, stat);
    if (entryOnly) return entry ? { is: 'entry', entry } : { is: 'absent' };
    if (!entry) throw failure('ELOOP');
    if (known !== undefined && entry.etag === known) return { is: 'known' };
    return readFound(found, name, times);
  } finally {
    fs.closeSync(found);
  }
}

function answerOrProblem(ask: ReadRequest): ReadResponse {
  try {
    return answer(ask);
  } catch (cause) {
    return { is: 'problem', code: codeOf(cause) || 'EIO' };
  }
}

parentPort?.on('message', (asked: readonly ReadRequest[]) => {
  const told = isThereSync(root) ? asked.map(answerOrProblem) : asked.map((): ReadResponse => ({ is: 'problem', code: rootGone }));
  parentPort?.postMessage(
    told,
    told.flatMap((each) => (each.is === 'whole' ? [each.bytes.buffer] : [])),
  );
});
