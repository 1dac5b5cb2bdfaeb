import { crc32 } from 'node:zlib';

// The trace mark is a tile of light and dark cells, repeated over a page. Some of the cells are the same in each tile: they show where the
// tiles are. The others contain the id of the download. Each bit is in ten cells, and each cell has a fixed sign: a tile looks like noise.

/** Cells on each side of a tile. */
export const cellsPerSide = 32;
/** Number of tiles along the shorter side of the page. */
const tilesOnShorterSide = 6;
/** A picture whose tiles are smaller, in pixels, gets no trace mark: the mark could not be found again. */
const minTileSize = 64;

const cells = cellsPerSide * cellsPerSide;
const knownCells = 384;
const idBytes = 6;
const checkBytes = 2;
export const bitCount = 8 * (idBytes + checkBytes);

/** A cell is 1 if it makes the page lighter, and -1 if it makes it darker. */
export type TraceTile = Int8Array;

/** Returns the side of a tile, in the unit of the size. */
export const tileSize = ({ width, height }: { readonly width: number; readonly height: number }): number =>
  Math.min(width, height) / tilesOnShorterSide;

/** Whether a picture with tiles of this size, in pixels, gets a trace mark. */
export const isTraceable = (tile: number): boolean => tile >= minTileSize;

/** Returns a generator of numbers from 0 to 2^32 - 1 that look random. The sequence is always the same (mulberry32). */
function fixedNumbers(): () => number {
  let state = 0x70_73_74_6e;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

const next = fixedNumbers();
const signs = Int8Array.from({ length: cells }, () => ((next() & 1) === 1 ? 1 : -1));
/** The cells in a fixed random order: first the known cells, then the cells of the bits: one of each bit, and again. */
const order = Uint16Array.from(
  Array.from({ length: cells }, (_, cell) => ({ cell, rank: next() }))
    .sort((one, other) => one.rank - other.rank)
    .map(({ cell }) => cell),
);

/** Returns the bits of an id and of its checksum. @param id less than 2^48 */
function bitsOf(id: number): Int8Array {
  const bytes = Buffer.alloc(idBytes + checkBytes);
  bytes.writeUIntBE(id, 0, idBytes);
  bytes.writeUInt16BE(crc32(bytes.subarray(0, idBytes)) & 0xff_ff, idBytes);
  return Int8Array.from({ length: bitCount }, (_, bit) => (((bytes[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1 ? 1 : -1));
}

/** Returns the id whose bits these are; null: the checksum is wrong. @param bits greater than 0: the bit is set */
export function idOfBits(bits: ArrayLike<number>): number | null {
  const bytes = Buffer.alloc(idBytes + checkBytes);
  for (let bit = 0; bit < bitCount; bit += 1) if ((bits[bit] ?? 0) > 0) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (0x80 >> (bit & 7));
  const isIntact = (crc32(bytes.subarray(0, idBytes)) & 0xff_ff) === bytes.readUInt16BE(idBytes);
  return isIntact ? bytes.readUIntBE(0, idBytes) : null;
}

/** Returns the tile of an id, row by row. */
export function traceTile(id: number): TraceTile {
  const bits = bitsOf(id);
  const tile = new Int8Array(cells);
  for (const [position, cell] of order.entries())
    tile[cell] = (signs[cell] ?? 0) * (position < knownCells ? 1 : (bits[(position - knownCells) % bitCount] ?? 0));
  return tile;
}

/** The cells that are the same in each tile; 0: the cell contains a part of the id. */
export const knownTile: TraceTile = (() => {
  const tile = new Int8Array(cells);
  for (const cell of order.subarray(0, knownCells)) tile[cell] = signs[cell] ?? 0;
  return tile;
})();

/** Returns for each bit the sum of the values of its cells, times their signs. @param values of the cells of a tile */
export function sumBits(values: ArrayLike<number>): Float64Array {
  const sums = new Float64Array(bitCount);
  for (let position = knownCells; position < cells; position += 1) {
    const cell = order[position] ?? 0;
    const bit = (position - knownCells) % bitCount;
    sums[bit] = (sums[bit] ?? 0) + (values[cell] ?? 0) * (signs[cell] ?? 0);
  }
  return sums;
}
