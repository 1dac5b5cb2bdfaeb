import fs from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { Entry } from '#core/listing.ts';
import { isThereNow, openBeneathNow, type Root } from './beneath.ts';
import { codeOf, rootGone } from './disk-errors.ts';
import { entryOf } from './entry.ts';

/** Files up to this size come whole with the answer: 64 KiB more would cost others their turn. */
const wholeUpTo = 1 << 17;

/** To the thread: the file at a path. */
export interface AskFile {
  readonly number: number;
  readonly path: readonly string[];
}
/** From the thread: all of a small file, or a descriptor of a larger one; no entry: there is no file. */
export interface ToldFile {
  readonly number: number;
  readonly entry?: Entry;
  readonly bytes?: Uint8Array<ArrayBuffer>;
  readonly descriptor?: number;
  readonly problem?: string;
}

const root: Root = workerData;

function readWhole(file: number, size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  let filled = 0;
  for (let read = 1; read > 0 && filled < size; filled += read) read = fs.readSync(file, bytes, filled, size - filled, filled);
  return bytes;
}

function answer({ number, path }: AskFile): ToldFile {
  const file = openBeneathNow(root, path);
  let kept = false;
  try {
    const entry = entryOf(path.at(-1) ?? '', fs.fstatSync(file, { bigint: true }));
    if (!entry || entry.folder) return { number };
    if (entry.size <= wholeUpTo) return { number, entry, bytes: readWhole(file, entry.size) };
    kept = true;
    return { number, entry, descriptor: file };
  } finally {
    if (!kept) fs.closeSync(file);
  }
}

function answerOrProblem(ask: AskFile): ToldFile {
  try {
    return answer(ask);
  } catch (cause) {
    return { number: ask.number, problem: codeOf(cause) || 'EIO' };
  }
}

parentPort?.on('message', (asked: readonly AskFile[]) => {
  const told = isThereNow(root) ? asked.map(answerOrProblem) : asked.map(({ number }): ToldFile => ({ number, problem: rootGone }));
  parentPort?.postMessage(
    told,
    told.flatMap(({ bytes }) => (bytes ? [bytes.buffer] : [])),
  );
});
