import { crc32 } from 'node:zlib';
import { readInto } from '#features/visits/files/read-range.ts';
import type { OpenFile } from '#ports/storage.ts';
import type { NameMemory } from './name-memory.ts';
import type { PieceMemory } from './piece-memory.ts';
import { bufferOf, reusedBuffer } from './reused-buffer.ts';
import { type ZipDirectory, zipDirectory } from './zip-directory.ts';
import { type ContentSummary, centralEntry, descriptor, endOfArchive, localHeader, type ZipItem } from './zip-format.ts';
import { maxSingleReadSize } from './zip-plan.ts';

/** An item to archive. `open` is null for a folder. It can be null for an empty file. */
export interface ZipSource extends ZipItem {
  readonly open: (() => Promise<OpenFile | null>) | null;
}

const entireFile = ({ entry: { size } }: OpenFile) => ({ start: 0, end: size - 1 });

async function* smallFilePieces(item: ZipItem, file: OpenFile, content: Buffer): AsyncGenerator<Buffer, ContentSummary> {
  await readInto(file, entireFile(file), content);
  const summary = { crc: crc32(content), size: content.length };
  yield localHeader(item, summary);
  if (content.length > 0) yield content;
  return summary;
}

async function* largeFilePieces(item: ZipItem, file: OpenFile): AsyncGenerator<Buffer, ContentSummary> {
  yield localHeader(item, null);
  let [crc, size] = [0, 0];
  for await (const piece of file.read(entireFile(file))) {
    crc = crc32(piece, crc);
    size += piece.length;
    yield bufferOf(piece);
  }
  yield descriptor({ crc, size });
  return { crc, size };
}

async function* archivePieces(
  sources: AsyncIterable<ZipSource>,
  pieceMemory: Pick<PieceMemory, 'size'>,
  directory: ZipDirectory,
): AsyncGenerator<Buffer> {
  const getBuffer = reusedBuffer();
  let offset = 0;
  for await (const source of sources) {
    const file = source.open ? await source.open() : null;
    if (source.open && !file) continue;
    const headerOffset = offset;
    const isSmall = !file || file.entry.size <= Math.min(maxSingleReadSize, pieceMemory.size());
    try {
      let summary: ContentSummary = { crc: 0, size: 0 };
      if (file) {
        const pieces = isSmall ? smallFilePieces(source, file, getBuffer(file.entry.size)) : largeFilePieces(source, file);
        let next = await pieces.next();
        for (; !next.done; next = await pieces.next()) {
          offset += next.value.length;
          yield next.value;
        }
        summary = next.value;
      } else {
        const header = localHeader(source, summary);
        offset += header.length;
        yield header;
      }
      await directory.add(centralEntry(source, summary, headerOffset, !isSmall));
    } finally {
      await file?.close();
    }
  }
  yield* directory.pieces();
  yield endOfArchive(directory.count(), directory.size(), offset);
}

/**
 * Yields an archive in pieces, stored and not deflated. The memory of a piece may be reused for the next one. Omits files that
 * were deleted since their folder was listed.
 * @param nameMemory for the names in the central directory
 * @throws Refusal (503) if central directories need too much memory; what `sources` and the reading of files throw
 */
export async function* writeZip(
  sources: AsyncIterable<ZipSource>,
  pieceMemory: Pick<PieceMemory, 'size'>,
  nameMemory: NameMemory,
): AsyncGenerator<Buffer> {
  const directory = zipDirectory(nameMemory);
  try {
    yield* archivePieces(sources, pieceMemory, directory);
  } finally {
    directory.end();
  }
}
