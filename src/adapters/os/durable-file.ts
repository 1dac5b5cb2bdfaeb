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

/** Syncs the names in a folder to disk. Without this, a power failure can remove a file that was written and renamed. */
export const syncFolder = (folder: string): void => sync(folder);

/** Renames a complete file to its final name, and syncs the file and its name to disk: after a crash, `file` is complete, or as before. */
export function replaceFileDurably(source: string, file: string): void {
  sync(source);
  renameSync(source, file);
  syncFolder(dirname(file));
}

/**
 * Gives a complete file its final name as `replaceFileDurably` does, unless the name is taken. Without hard links in the file system, a file
 * that another process creates at the same moment is still replaced. `source` may remain: the caller deletes it.
 * @returns false if the name is taken
 */
function createIfFree(source: string, file: string): boolean {
  sync(source);
  const isCreated = linkIfFree(source, file);
  syncFolder(dirname(file)); // even if the name is taken: an earlier attempt may have failed here
  return isCreated;
}

function linkIfFree(source: string, file: string): boolean {
  try {
    linkSync(source, file);
  } catch {
    if (existsSync(file)) return false;
    renameSync(source, file); // the file system has no hard links
  }
  return true;
}

/** As `createIfFree`. @throws Error if the name is taken */
export function createFileDurably(source: string, file: string): void {
  if (!createIfFree(source, file)) throw new Error(`${file} already exists`);
}

/** Writes a private file (mode 0600) under a random name, since another process may write the same file. Returns its path. */
function writeTemporaryFile(file: string, text: string): string {
  const path = `${file}.${randomBytes(8).toString('hex')}.new`;
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

/** Writes a small private file (mode 0600) and syncs it to disk. An existing file is replaced. */
export const writePrivateFile = (file: string, text: string): void => replaceFileDurably(writeTemporaryFile(file, text), file);

/**
 * As `writePrivateFile`, but keeps an existing file. If the file system has hard links, this also holds if several processes write the
 * file at the same time.
 */
export function writePrivateFileOnce(file: string, text: string): void {
  const temporary = writeTemporaryFile(file, text);
  try {
    createIfFree(temporary, file);
  } finally {
    rmSync(temporary, { force: true });
  }
}
