import fs from 'node:fs';
import { promisify } from 'node:util';
import type { ItemPath } from '#core/item-path.ts';
import type { Upload } from '#ports/storage.ts';
import { afterCommitPoint, errorWithCode, toStorageError } from './disk-errors.ts';
import { entryOf } from './entry.ts';
import { deleteMountNote, evidenceEntry } from './evidence.ts';
import { type FreeSpaceFloor, freeSpaceCheck } from './free-space.ts';
import { createFile, type StorageRoot, withFolder } from './open-within-root.ts';
import { type Ownership, setOwnership } from './ownership.ts';
import { pieceCollector } from './piece-collector.ts';
import { clearStaging, placeFile, replaceFile } from './placing.ts';
import type { DirectoryEntry } from './staging-area.ts';

const writev = promisify(fs.writev);
const fsync = promisify(fs.fsync);
const close = promisify(fs.close);
const flushThreshold = 1 << 20; // bytes collected before a write: writing 64 KiB at a time costs three times the CPU

/** Writes all chunks from a position. Returns the position after the last byte. */
async function writeAll(descriptor: number, chunks: Uint8Array[], start: number): Promise<number> {
  let remaining = chunks;
  let position = start;
  while (remaining.length > 0) {
    const { bytesWritten } = await writev(descriptor, remaining, position);
    if (bytesWritten === 0) throw errorWithCode('ENOSPC');
    position += bytesWritten;
    remaining = skipBytes(remaining, bytesWritten);
  }
  return position;
}

/** Returns the chunks without their first `count` bytes. */
function skipBytes(chunks: readonly Uint8Array[], count: number): Uint8Array[] {
  let remaining = count;
  return chunks.flatMap((chunk) => {
    const skipped = Math.min(remaining, chunk.length);
    remaining -= skipped;
    return skipped === chunk.length ? [] : [chunk.subarray(skipped)];
  });
}

/** Runs `work`, and converts the error of a failed system call to an error of the port. */
export type ErrorGuard = <T>(work: () => Promise<T>) => Promise<T>;

/** A file to receive. */
interface UploadRequest {
  readonly parent: ItemPath;
  /** Names the staging copy. */
  readonly token: string;
  /** Size in bytes, or null if it is not known. */
  readonly expected: number | null;
}

/**
 * Begins an upload. The file is written to the staging area, synced, and then linked into place, so that it is visible only when
 * it is complete.
 * @param guards `withRootCheck` also refuses work if the root's path no longer leads to the open folder
 */
export async function beginUpload(
  root: StorageRoot,
  { parent, token, expected }: UploadRequest,
  { floor, ownership }: { readonly floor: FreeSpaceFloor; readonly ownership: Ownership },
  guards: { readonly withStorageErrors: ErrorGuard; readonly withRootCheck: ErrorGuard },
): Promise<Upload> {
  const staging = await evidenceEntry(root, parent, token);
  const checkSpace = freeSpaceCheck(staging.folder, floor);
  let file: number;
  try {
    await checkSpace(expected ?? 0);
    file = await createFile(staging.folder, staging.name, 0o666);
  } catch (cause) {
    fs.closeSync(staging.folder);
    throw cause;
  }
  const collector = pieceCollector();
  let position = 0;
  let isSynced = false;
  let isFirstPlace = true;
  const complete = async () => {
    if (collector.size() > 0) await flush();
    // `place` runs again with another name if the first is taken: by then the bytes are on disk.
    if (!isSynced) await fsync(file);
    isSynced = true;
  };
  const flush = async () => {
    await checkSpace(collector.size());
    const chunks = collector.take();
    position = await writeAll(file, chunks, position);
  };
  return {
    write: (chunk) =>
      guards.withStorageErrors(async () => {
        collector.add(chunk);
        if (collector.size() >= flushThreshold) await flush();
      }),
    sync: () => guards.withStorageErrors(complete),
    // Checks the root: in a folder that its path no longer leads to, nobody would find the file.
    place: (name, replaces) =>
      guards.withRootCheck(async () => {
        await complete();
        // Opens the parent again: during a long upload it may have been moved.
        await withFolder(root, parent, async (folder) => {
          const target: DirectoryEntry = { folder, name };
          setOwnership(file, folder, ownership);
          const isFirst = isFirstPlace;
          isFirstPlace = false;
          if (replaces) replaceFile(staging, target, replaces.etag);
          else placeFile(staging, target, isFirst);
          await afterCommitPoint(() => fsync(folder));
        });
        const entry = entryOf(name, fs.fstatSync(file, { bigint: true }));
        if (!entry) throw errorWithCode('EIO');
        return entry;
      }),
    async closeForRecovery() {
      fs.closeSync(file);
      fs.closeSync(staging.folder);
    },
    async discard() {
      try {
        clearStaging(staging);
        await deleteMountNote(root, token, staging);
      } catch (cause) {
        throw toStorageError(cause);
      } finally {
        fs.closeSync(staging.folder);
        await close(file); // in the thread pool: closing a deleted file frees its space, which takes time
      }
    },
  };
}
