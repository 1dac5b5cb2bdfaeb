import fs from 'node:fs';
import { promisify } from 'node:util';
import type { ItemPath } from '#core/item-path.ts';
import type { Upload } from '#ports/storage.ts';
import { afterCommitPoint, failure, storageError } from './disk-errors.ts';
import { entryOf } from './entry.ts';
import { dropMountNote, evidenceEntry } from './evidence.ts';
import { type FreeSpaceFloor, freeSpaceCheck } from './free-space.ts';
import { createFile, inFolder, type Root } from './open-within-root.ts';
import { type Ownership, setOwnership } from './ownership.ts';
import { pieceCollector } from './piece-collector.ts';
import { clearStaging, placeFile, replaceFile } from './placing.ts';
import type { DirectoryEntry } from './staging-area.ts';

const writev = promisify(fs.writev);
const fsync = promisify(fs.fsync);
const close = promisify(fs.close);
const worthwhile = 1 << 20; // bytes collected before a write: 64 KiB at a time costs three times the CPU

async function writeAll(descriptor: number, chunks: Uint8Array[], position: number): Promise<number> {
  let left = chunks;
  let at = position;
  while (left.length > 0) {
    const { bytesWritten } = await writev(descriptor, left, at);
    if (bytesWritten === 0) throw failure('ENOSPC');
    at += bytesWritten;
    left = after(left, bytesWritten);
  }
  return at;
}

/** What of the chunks is left after the first `bytes`. */
function after(chunks: readonly Uint8Array[], bytes: number): Uint8Array[] {
  let skip = bytes;
  return chunks.flatMap((chunk) => {
    const skipped = Math.min(skip, chunk.length);
    skip -= skipped;
    return skipped === chunk.length ? [] : [chunk.subarray(skipped)];
  });
}

/** Says what a failed system call means. */
export type Guard = <T>(work: () => Promise<T>) => Promise<T>;

/** A file that is about to come. */
interface Announced {
  readonly parent: ItemPath;
  /** Names the staging copy. */
  readonly token: string;
  /** Bytes that will come; null: not known. */
  readonly expected: number | null;
}

/** A file on its way in: staged, synced, then linked into place, so that it is visible only when whole. */
export async function beginUpload(
  root: Root,
  { parent, token, expected }: Announced,
  { floor, ownership }: { readonly floor: FreeSpaceFloor; readonly ownership: Ownership },
  { told, guarded }: { readonly told: Guard; readonly guarded: Guard },
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
  let synced = false;
  let tried = false;
  const complete = async () => {
    if (collector.size() > 0) await flush();
    // A name that is taken is followed by another: the bytes are on disk already.
    if (!synced) await fsync(file);
    synced = true;
  };
  const flush = async () => {
    await checkSpace(collector.size());
    const chunks = collector.take();
    position = await writeAll(file, chunks, position);
  };
  return {
    write: (chunk) =>
      told(async () => {
        collector.add(chunk);
        if (collector.size() >= worthwhile) await flush();
      }),
    complete: () => told(complete),
    // A folder that its path no longer leads to takes nothing: nobody would find it there.
    place: (name, replaces) =>
      guarded(async () => {
        await complete();
        // The parent is looked up anew: during a long upload it may have been moved away.
        await inFolder(root, parent, async (folder) => {
          const target: DirectoryEntry = { folder, name };
          setOwnership(file, folder, ownership);
          const isFirst = !tried;
          tried = true;
          if (replaces) replaceFile(staging, target, replaces.etag);
          else placeFile(staging, target, isFirst);
          await afterCommitPoint(() => fsync(folder));
        });
        const entry = entryOf(name, fs.fstatSync(file, { bigint: true }));
        if (!entry) throw failure('EIO');
        return entry;
      }),
    async leave() {
      fs.closeSync(file);
      fs.closeSync(staging.folder);
    },
    async forget() {
      try {
        clearStaging(staging);
        await dropMountNote(root, token, staging);
      } catch (cause) {
        throw storageError(cause);
      } finally {
        fs.closeSync(staging.folder);
        await close(file); // in a thread: it frees the space of what was given up
      }
    },
  };
}
