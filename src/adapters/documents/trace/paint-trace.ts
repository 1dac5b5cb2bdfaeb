import { cellsPerSide, isTraceable, tileSize, traceTile } from './trace-tile.ts';

/** Opacity of a cell, from 0 to 1. A cell changes a level by at most five of 255, which nobody sees. */
export const traceOpacity = 5 / 255;

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Pixels of a picture, row by row. */
export interface Pixels extends Size {
  readonly data: Uint8Array;
}

const levels = 256;
const white = 255;
const [inDark, inLight, inNone] = [0, levels, 2 * levels];

/** What each level becomes in a dark cell; then, what it becomes in a light cell; and then, the level itself. */
export const levelsInCells = Uint8Array.from({ length: 3 * levels }, (_, index) => {
  const level = index % levels;
  if (index >= inNone) return level;
  return Math.round(level * (1 - traceOpacity) + (index < inLight ? 0 : white) * traceOpacity);
});

/**
 * Returns a function that returns, for each pixel of a row, where the levels of its cell begin in `levelsInCells`.
 * @param id of the trace mark; null: none
 */
export function traceRows({ width, height }: Size, id: number | null): (row: number) => Uint16Array {
  const size = tileSize({ width, height });
  if (id === null || !isTraceable(size)) {
    const unchanged = new Uint16Array(width).fill(inNone);
    return () => unchanged;
  }
  const tile = traceTile(id);
  const cellOf = (position: number) => Math.floor((position * cellsPerSide) / size) % cellsPerSide;
  const rows = Array.from({ length: cellsPerSide }, (_, row) => {
    const begins = new Uint16Array(width);
    const start = row * cellsPerSide;
    for (let column = 0; column < width; column += 1) begins[column] = (tile[start + cellOf(column)] ?? 0) > 0 ? inLight : inDark;
    return begins;
  });
  return (row) => rows[cellOf(row)] ?? new Uint16Array();
}

/** Paints the trace mark of an id into a picture with three bytes for each pixel. */
export function paintTrace({ data, width, height }: Pixels, id: number): void {
  const rowOf = traceRows({ width, height }, id);
  for (let row = 0, byte = 0; row < height; row += 1) {
    const begins = rowOf(row);
    for (let column = 0; column < width; column += 1) {
      const begin = begins[column] ?? 0;
      for (const end = byte + 3; byte < end; byte += 1) data[byte] = levelsInCells[begin + (data[byte] ?? 0)] ?? 0;
    }
  }
}

/** Paints the trace mark of an id where a picture with four bytes for each pixel is transparent. */
export function paintTraceOnTransparent({ data, width, height }: Pixels, id: number): void {
  const alpha = Math.round(traceOpacity * white);
  const rowOf = traceRows({ width, height }, id);
  for (let row = 0, byte = 0; row < height; row += 1) {
    const begins = rowOf(row);
    for (let column = 0; column < width; column += 1, byte += 4) {
      const begin = begins[column];
      if (data[byte + 3] !== 0 || begin === inNone) continue;
      data.fill(begin === inDark ? 0 : white, byte, byte + 3);
      data[byte + 3] = alpha;
    }
  }
}

/** Returns the pixels of a picture in grey. The picture has three bytes for each pixel. */
export function greyPixels({ data, width, height }: Pixels): Pixels {
  const [red, green, blue] = [0.299, 0.587, 0.114];
  const grey = new Uint8Array(width * height);
  for (let pixel = 0; pixel < grey.length; pixel += 1) {
    const start = 3 * pixel;
    grey[pixel] = Math.round(red * (data[start] ?? 0) + green * (data[start + 1] ?? 0) + blue * (data[start + 2] ?? 0));
  }
  return { data: grey, width, height };
}
