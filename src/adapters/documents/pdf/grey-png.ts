import { constants, crc32, deflateSync } from 'node:zlib';
import { levelsInCells, traceRows } from '#adapters/documents/trace/paint-trace.ts';
import type { Picture } from './pdf-document.ts';

const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const [bitDepth, greyscale] = [8, 0];
const minEqual = 0.8; // part of the pixels that equal the pixel to their left: text has more, photographs and scans have fewer
const filterUp = 2; // each byte is stored as its difference from the one above (ISO/IEC 15948, 9.2)

/**
 * Returns the rows of a picture in grey, each after the number of its filter. @param traceId as in `encodeGreyPng`
 * @returns null if the picture has colours, or if it is so varied that a JPEG is much smaller
 */
function greyRows({ data, width, height }: Picture, traceId: number | null): Uint8Array | null {
  const rows = new Uint8Array((width + 1) * height);
  const above = new Uint8Array(width);
  const rowOf = traceRows({ width, height }, traceId);
  let equal = 0;
  let from = 0;
  let to = 0;
  for (let row = 0; row < height; row += 1) {
    const begins = rowOf(row);
    rows[to] = filterUp;
    to += 1;
    let left = -1;
    for (let column = 0; column < width; column += 1) {
      const grey = data[from] ?? 0;
      if (grey !== data[from + 1] || grey !== data[from + 2]) return null;
      if (grey === left) equal += 1;
      const level = levelsInCells[(begins[column] ?? 0) + grey] ?? 0;
      rows[to] = level - (above[column] ?? 0);
      above[column] = level;
      left = grey;
      from += 3;
      to += 1;
    }
  }
  return equal >= minEqual * width * height ? rows : null;
}

/** Returns a chunk of a PNG file (ISO/IEC 15948, 5.3). */
function chunk(type: string, content: Uint8Array): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  checksum.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, checksum]);
}

/**
 * Returns a picture as a PNG in grey. A page of text takes less than half of the time of a JPEG, and is sharper.
 * @param traceId number in the trace mark that is painted into it; null: none
 * @returns null if a JPEG is better: for a picture with colours, and for a photograph or a scan
 */
export function encodeGreyPng(picture: Picture, traceId: number | null): Uint8Array | null {
  const rows = greyRows(picture, traceId);
  if (!rows) return null;
  const header = Buffer.alloc(13); // the rest is 0: the only compression and filter methods, and no interlacing
  header.writeUInt32BE(picture.width, 0);
  header.writeUInt32BE(picture.height, 4);
  header.set([bitDepth, greyscale], 8);
  const content = deflateSync(rows, { level: constants.Z_BEST_SPEED });
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', content), chunk('IEND', Buffer.alloc(0))]);
}
