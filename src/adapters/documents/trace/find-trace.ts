import type { Trace } from '#ports/documents.ts';
import { type Complex, Fourier } from './fourier.ts';
import type { Pixels } from './paint-trace.ts';
import { readTile } from './read-tile.ts';
import { cropDifferences, type Differences, smallDifferences } from './small-differences.ts';
import { type Grid, likelyGrids } from './tile-grids.ts';
import { cellsPerSide, knownTile } from './trace-tile.ts';

/** Maximum width and height of the pictures that are searched for trace marks, in px: the longer side of A4 at 150 dpi. */
export const searchedSize = 1754;

const foldedSize = 2 * cellsPerSide; // samples on each side of a tile
const samples = foldedSize * foldedSize;
const minCertainty = 7; // standard deviations; pictures without a trace mark reach at most 5.5
const sureCertainty = 9;
const [firstTileStep, firstAngleStep, rounds] = [0.004, 0.004, 7]; // of the search for the exact grid

/** The tiles of a grid, laid over each other, and where the known cells are found in them. */
interface FoldedTile {
  readonly grid: Grid;
  readonly values: Float64Array;
  /** How much better the known cells match at `column` and `row` than on average, in standard deviations. */
  readonly certainty: number;
  readonly column: number;
  readonly row: number;
}

/** Returns the mean of all tiles of a grid, less its own average. @param step n: only every nth pixel in both directions is used */
function fold({ values, width, height }: Differences, { tile, angle }: Grid, step: number): Float64Array {
  const [cosine, sine] = [(foldedSize * Math.cos(angle)) / tile, (foldedSize * Math.sin(angle)) / tile];
  const [sums, counts] = [new Float64Array(samples), new Float64Array(samples)];
  const mask = foldedSize - 1;
  for (let y = 0; y < height; y += step)
    for (let x = 0; x < width; x += step) {
      const value = values[y * width + x] ?? 0;
      if (value === 0) continue;
      const sample = (Math.floor(cosine * y - sine * x) & mask) * foldedSize + (Math.floor(cosine * x + sine * y) & mask);
      sums[sample] = (sums[sample] ?? 0) + value;
      counts[sample] = (counts[sample] ?? 0) + 1;
    }
  const mean = sums.map((sum, sample) => sum / Math.max(1, counts[sample] ?? 0));
  const level = mean.reduce((sum, value) => sum + value, 0) / samples;
  return mean.map((value) => value - level);
}

/** What a folded tile is compared with. Made for each search, because most processes that could search never do. */
interface Reference {
  readonly fourier: Fourier;
  /** Fourier transform of the known cells. */
  readonly knownSpectrum: Complex;
}

function createReference(): Reference {
  const fourier = new Fourier(foldedSize);
  const square = fourier.square();
  for (let sample = 0; sample < samples; sample += 1) {
    const [row, column] = [Math.floor(sample / foldedSize), sample % foldedSize];
    square[2 * sample] = knownTile[(row >> 1) * cellsPerSide + (column >> 1)] ?? 0;
  }
  fourier.forward(square);
  return { fourier, knownSpectrum: square };
}

/** Finds the known cells in a folded tile. */
function locate({ fourier, knownSpectrum }: Reference, grid: Grid, values: Float64Array): FoldedTile {
  const square = fourier.square();
  for (const [sample, value] of values.entries()) square[2 * sample] = value;
  fourier.forward(square);
  for (let index = 0; index < square.length; index += 2) {
    const [real, imaginary] = [square[index] ?? 0, square[index + 1] ?? 0];
    const [knownReal, knownImaginary] = [knownSpectrum[index] ?? 0, knownSpectrum[index + 1] ?? 0];
    square[index] = real * knownReal + imaginary * knownImaginary;
    square[index + 1] = imaginary * knownReal - real * knownImaginary;
  }
  fourier.inverse(square);
  let [best, sum, sumOfSquares] = [0, 0, 0];
  for (let sample = 0; sample < samples; sample += 1) {
    const value = square[2 * sample] ?? 0;
    sum += value;
    sumOfSquares += value * value;
    if (value > (square[2 * best] ?? 0)) best = sample;
  }
  const mean = sum / samples;
  const deviation = Math.sqrt(sumOfSquares / samples - mean * mean) || 1;
  const certainty = ((square[2 * best] ?? 0) - mean) / deviation;
  return { grid, values, certainty, column: best % foldedSize, row: Math.floor(best / foldedSize) };
}

function quarterTurn(values: Float64Array): Float64Array {
  const turned = new Float64Array(samples);
  for (let row = 0; row < foldedSize; row += 1)
    for (let column = 0; column < foldedSize; column += 1)
      turned[column * foldedSize + (foldedSize - 1 - row)] = values[row * foldedSize + column] ?? 0;
  return turned;
}

const mostCertain = (tiles: readonly FoldedTile[]) => tiles.reduce((best, tile) => (tile.certainty > best.certainty ? tile : best));

/** Finds the known cells in the tiles of a grid, in each of the four directions. */
function tryGrid(reference: Reference, differences: Differences, grid: Grid, step: number): FoldedTile {
  const upright = fold(differences, grid, step);
  const [left, down] = [quarterTurn(upright), quarterTurn(quarterTurn(upright))];
  return mostCertain([upright, left, down, quarterTurn(down)].map((values) => locate(reference, grid, values)));
}

/** Searches for the exact grid near a grid. */
function refine(reference: Reference, differences: Differences, start: FoldedTile): FoldedTile {
  let best = tryGrid(reference, differences, start.grid, 1);
  let [tileStep, angleStep] = [firstTileStep, firstAngleStep];
  for (let round = 0; round < rounds; round += 1) {
    const { tile, angle } = best.grid;
    const nearby = [
      { tile: tile * (1 + tileStep), angle },
      { tile: tile * (1 - tileStep), angle },
      { tile, angle: angle + angleStep },
      { tile, angle: angle - angleStep },
    ];
    const next = mostCertain([best, ...nearby.map((grid) => tryGrid(reference, differences, grid, 1))]);
    if (next === best) [tileStep, angleStep] = [tileStep / 2, angleStep / 2];
    best = next;
  }
  return best;
}

/** Returns the values of the cells of a folded tile. */
function cellValues({ values, column, row }: FoldedTile): Float64Array {
  const mask = foldedSize - 1;
  const at = (y: number, x: number) => values[((y + row) & mask) * foldedSize + ((x + column) & mask)] ?? 0;
  return Float64Array.from({ length: cellsPerSide * cellsPerSide }, (_, cell) => {
    const [y, x] = [2 * Math.floor(cell / cellsPerSide), 2 * (cell % cellsPerSide)];
    return at(y, x) + at(y, x + 1) + at(y + 1, x) + at(y + 1, x + 1);
  });
}

/** Returns the trace mark in a picture whose tiles all have about the same size and direction. */
function findInFlat(reference: Reference, differences: Differences): Trace | null {
  if (differences.values.every((value) => value === 0)) return null; // blank
  let best: FoldedTile | null = null;
  for (const grid of likelyGrids(differences)) {
    const tile = tryGrid(reference, differences, grid, 2);
    if (!best || tile.certainty > best.certainty) best = tile;
    if (best.certainty >= sureCertainty) break;
  }
  if (!best) return null;
  const exact = refine(reference, differences, best);
  return exact.certainty >= minCertainty ? readTile(cellValues(exact)) : null;
}

/** Yields a picture, and then its middle and its corners: in a photograph, tiles that are farther away look smaller. */
function* partsOf(whole: Differences): Generator<Differences> {
  yield whole;
  const size = { width: Math.floor(whole.width / 2), height: Math.floor(whole.height / 2) };
  const [right, bottom] = [whole.width - size.width, whole.height - size.height];
  for (const [left, top] of [
    [right / 2, bottom / 2],
    [0, 0],
    [right, 0],
    [0, bottom],
    [right, bottom],
  ] as const)
    yield cropDifferences(whole, Math.floor(left), Math.floor(top), size);
}

/** Returns the trace mark in a picture; null: there is none, or too little of it is left. @param grey one byte for each pixel */
export function findTrace(grey: Pixels): Trace | null {
  const reference = createReference();
  for (const part of partsOf(smallDifferences(grey))) {
    const trace = findInFlat(reference, part);
    if (trace) return trace;
  }
  return null;
}
