import fs from 'node:fs';
import { crc32 } from 'node:zlib';
import type { FilledRun, RunFile } from '#ports/file-runs.ts';
import { ItemChanged } from '#ports/storage-errors.ts';
import { isAbsentError } from './disk-errors.ts';
import { diskEtag } from './entry.ts';
import { openPathWithinRoot, reopen, type StorageRoot } from './open-within-root.ts';
import { fillBuffer } from './read-file.ts';

const hasEtag = (stat: fs.BigIntStats, etag: string) => stat.isFile() && diskEtag(stat) === etag;

/** Reads a file into its place in the buffer of a run. @returns whether the bytes are those of the version with the ETag */
function readInto(pathDescriptor: number, etag: string, place: Uint8Array): boolean {
  const file = reopen(pathDescriptor);
  try {
    // The ETag is compared after the read, too: another program may have written meanwhile.
    return fillBuffer(file, place, 0) === place.length && hasEtag(fs.fstatSync(file, { bigint: true }), etag);
  } finally {
    fs.closeSync(file);
  }
}

/** @throws ItemChanged if the file has another ETag; the error of the system call if it is gone */
function readRunFile(root: StorageRoot, { path, etag }: RunFile, place: Uint8Array): void {
  const pathDescriptor = openPathWithinRoot(root, path);
  try {
    if (hasEtag(fs.fstatSync(pathDescriptor, { bigint: true }), etag) && readInto(pathDescriptor, etag, place)) return;
  } finally {
    fs.closeSync(pathDescriptor);
  }
  throw new ItemChanged('the file has changed');
}

/** Reads small files into one buffer, and returns it with their checksums. @throws ItemChanged if a file is gone or has another ETag */
export function readRun(root: StorageRoot, files: readonly RunFile[], buffer: ArrayBuffer): FilledRun {
  const checksums = files.map((file) => {
    const place = new Uint8Array(buffer, file.at, file.size);
    try {
      readRunFile(root, file, place);
    } catch (cause) {
      throw isAbsentError(cause) ? new ItemChanged('the file is gone', { cause }) : cause;
    }
    return crc32(place);
  });
  return { buffer, checksums };
}
