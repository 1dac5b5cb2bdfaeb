import { crc32 } from 'node:zlib';
import { readFully, reusedBuffer } from '#features/visits/files/read-fully.ts';
import type { OpenFile } from '#ports/storage.ts';
import type { NameMemory } from './name-memory.ts';
import type { PieceMemory } from './piece-memory.ts';
import { type ZipDirectory, zipDirectory } from './zip-directory.ts';
import { centralEntry, descriptor, endOfArchive, localHeader, type ZipBytes, type ZipItem } from './zip-format.ts';
import { readWholeUpTo } from './zip-plan.ts';

const pieceSize = 1 << 19; // bytes of a piece of a larger one

/** Something to put into an archive; `open` null: it has no bytes. */
export interface ZipSource extends ZipItem {
  readonly open: (() => Promise<OpenFile | null>) | null;
}

async function* smallFile(item: ZipItem, file: OpenFile, bytes: Buffer): AsyncGenerator<Buffer, ZipBytes> {
  const content = bytes.subarray(0, await readFully(file, bytes, 0));
  const known = { crc: crc32(content), size: content.length };
  yield localHeader(item, known);
  if (content.length > 0) yield content;
  return known;
}

async function* largeFile(item: ZipItem, file: OpenFile, piece: Buffer): AsyncGenerator<Buffer, ZipBytes> {
  yield localHeader(item, null);
  let [crc, size] = [0, 0];
  for (let read = await readFully(file, piece, 0); read > 0; read = await readFully(file, piece, size)) {
    const part = piece.subarray(0, read);
    crc = crc32(part, crc);
    size += read;
    yield part;
  }
  yield descriptor({ crc, size });
  return { crc, size };
}

async function* piecesOf(
  sources: AsyncIterable<ZipSource>,
  room: Pick<PieceMemory, 'size'>,
  directory: ZipDirectory,
): AsyncGenerator<Buffer> {
  const buffer = reusedBuffer();
  let offset = 0;
  for await (const source of sources) {
    const file = source.open ? await source.open() : null;
    if (source.open && !file) continue;
    const begin = offset;
    const small = !file || file.entry.size <= Math.min(readWholeUpTo, room.size());
    try {
      let known: ZipBytes = { crc: 0, size: 0 };
      if (file) {
        const pieces = small
          ? smallFile(source, file, buffer(file.entry.size))
          : largeFile(source, file, buffer(Math.min(pieceSize, room.size())));
        let next = await pieces.next();
        for (; !next.done; next = await pieces.next()) {
          offset += next.value.length;
          yield next.value;
        }
        known = next.value;
      } else {
        const header = localHeader(source, known);
        offset += header.length;
        yield header;
      }
      await directory.add(centralEntry(source, known, begin, !small));
    } finally {
      await file?.close();
    }
  }
  yield* directory.pieces();
  yield endOfArchive(directory.count(), directory.size(), offset);
}

/**
 * Yields an archive, stored and not deflated, in pieces. The memory of a piece is reused for the next one. Files that
 * were deleted since they were found are left out.
 * @param memory for the names of its directory
 * @throws 503 where that is used up
 */
export async function* zipOf(
  sources: AsyncIterable<ZipSource>,
  room: Pick<PieceMemory, 'size'>,
  memory: NameMemory,
): AsyncGenerator<Buffer> {
  const directory = zipDirectory(memory);
  try {
    yield* piecesOf(sources, room, directory);
  } finally {
    directory.end();
  }
}
