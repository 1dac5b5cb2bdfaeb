import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Puts the names of a folder on disk: without it a power cut may take a file that was written and renamed whole. */
export const syncFolder = (folder: string): void => sync(folder);

/** Gives a finished file its name, both on disk for good: a crash leaves all of it or nothing. */
export function putInPlace(finished: string, file: string): void {
  sync(finished);
  renameSync(finished, file);
  syncFolder(dirname(file));
}

/** The same, but never in place of another file. The caller deletes the finished one. @throws where the name is taken */
export function putInFreePlace(finished: string, file: string): void {
  sync(finished);
  try {
    linkSync(finished, file);
  } catch (cause) {
    if (existsSync(file)) throw new Error(`${file} is there already`, { cause });
    renameSync(finished, file); // a file system without hard links
  }
  syncFolder(dirname(file));
}

/** A small file that nobody else may read, under a name of its own: another process may write the same one. */
function writePart(file: string, text: string): string {
  const part = `${file}.${randomBytes(8).toString('hex')}.new`;
  writeFileSync(part, text, { mode: 0o600 });
  return part;
}

/** Writes a small file that nobody else may read, on disk for good. */
export const writeOwnFile = (file: string, text: string): void => putInPlace(writePart(file, text), file);

/** The same; of several that write it at once, the first one's text stays. */
export function writeFirstOwnFile(file: string, text: string): void {
  const part = writePart(file, text);
  try {
    putInFreePlace(part, file);
  } catch (cause) {
    if (!existsSync(file)) throw cause;
  } finally {
    rmSync(part, { force: true });
  }
}
