import { memoryFile } from '#adapters/storage/memory-file.ts';
import { unlessAborted } from '#adapters/storage/unless-aborted.ts';
import type { GroupMemory } from '#core/memory-budget.ts';
import type { OpenFile } from '#ports/storage.ts';
import { ItemChanged, StorageUnavailable } from '#ports/storage-errors.ts';
import { pieceSize, ReadWindow } from './read-window.ts';
import type { SftpConnections } from './sftp-connections.ts';
import { openFileHandle, type SftpHandle } from './sftp-handle.ts';
import { type SftpItems, sftpEntryOf } from './sftp-items.ts';

const maxContent = 1 << 17; // bytes: a file that is not longer is read completely when it is opened

interface Piece {
  readonly length: number;
  readonly bytes: Promise<Buffer>;
  hasArrived: boolean;
}

function requestPiece({ session, id }: SftpHandle, position: number, length: number): Piece {
  const bytes = session.read(id, position, length);
  const piece = { length, bytes, hasArrived: false };
  const arrive = () => {
    piece.hasArrived = true;
  };
  bytes.then(arrive, arrive); // the reader gets the error when it waits for the piece
  return piece;
}

/**
 * Yields the bytes from `start` to `end` (inclusive). Up to eight requests are under way at a time, so that the latency of the server costs
 * little. Their number grows while the reader waits for bytes, and shrinks while bytes wait for the reader, to save memory.
 * @throws ItemChanged if the file is shorter
 */
export async function* readSftpRange(
  file: SftpHandle,
  start: number,
  end: number,
  readAhead: GroupMemory,
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  using window = new ReadWindow(readAhead.begin());
  const pieces: Piece[] = [];
  for (let next = start; ; ) {
    for (; pieces.length < window.size && next <= end; next += pieceSize)
      pieces.push(requestPiece(file, next, Math.min(pieceSize, end + 1 - next)));
    if (pieces[0]?.hasArrived === false) window.grow();
    else if (pieces.every(({ hasArrived }) => hasArrived)) window.shrink();
    const piece = pieces.shift();
    if (!piece) return;
    const bytes = await unlessAborted(piece.bytes, signal);
    if (bytes.length < piece.length) throw new ItemChanged('the file has become shorter');
    yield bytes;
  }
}

/** Opens a file. @param now ms since the epoch @returns null if there is none */
export async function openSftpFile(
  connections: SftpConnections,
  items: SftpItems,
  path: readonly string[],
  now: () => number,
): Promise<OpenFile | null> {
  const item = await items.find(path);
  const file = item && !item.folder ? await openFileHandle(connections, items.pathOf(path), 'r') : null;
  if (!file) return null;
  try {
    return await describeFile(file, path.at(-1) ?? '', connections.readAhead, now);
  } catch (cause) {
    await file.close();
    throw cause;
  }
}

async function describeFile(file: SftpHandle, name: string, readAhead: GroupMemory, now: () => number): Promise<OpenFile> {
  const { session, id } = file;
  const first = session.read(id, 0, maxContent);
  first.catch(() => {}); // `fstat` may fail first
  const item = sftpEntryOf(name, await session.fstat(id), now());
  if (!item || item.modified === null) throw new StorageUnavailable('the server has opened something other than a file');
  const entry = { ...item, modified: item.modified };
  const content = await first;
  if (entry.size > maxContent)
    return { entry, read: ({ start, end }, signal) => readSftpRange(file, start, end, readAhead, signal), close: () => file.close() };
  await file.close();
  if (content.length !== entry.size) throw new ItemChanged('the file changes while it is read');
  return memoryFile(entry, content);
}
