import { Fourier } from './fourier.ts';
import type { Differences } from './small-differences.ts';

/** How the tiles of a trace mark lie in a picture: in a square grid. */
export interface Grid {
  /** Side of a tile, in px. */
  readonly tile: number;
  /** Rotation in radians, from -π/4 to π/4: a grid looks the same after a quarter turn. */
  readonly angle: number;
}

const correlationSize = 1024; // px: the middle of the picture is correlated with itself
const [minTile, maxTile] = [48, 480]; // px
const tileStep = 1.006; // factor
const angleStep = 0.4 * (Math.PI / 180);
const maxTilesAway = 3;
const maxPeak = 25; // standard deviations: more does not count, so that one peak, such as at the line spacing of a text, does not decide
const maxGrids = 25;

interface RatedGrid extends Grid {
  readonly rating: number;
}

/** Returns the correlation of the middle of a picture with itself, for each shift, in standard deviations. */
function selfCorrelation({ values, width, height }: Differences): Float64Array {
  const fourier = new Fourier(correlationSize);
  const square = fourier.square();
  const [across, down] = [Math.min(width, correlationSize), Math.min(height, correlationSize)];
  const [left, top] = [(width - across) >> 1, (height - down) >> 1];
  for (let row = 0; row < down; row += 1)
    for (let column = 0; column < across; column += 1)
      square[2 * (row * correlationSize + column)] = values[(top + row) * width + left + column] ?? 0;
  fourier.forward(square);
  for (let index = 0; index < square.length; index += 2) {
    // The magnitude, not its square as in an exact autocorrelation: so the strongest frequencies do not hide the others.
    square[index] = index === 0 ? 0 : Math.hypot(square[index] ?? 0, square[index + 1] ?? 0);
    square[index + 1] = 0;
  }
  fourier.inverse(square);
  const correlation = new Float64Array(correlationSize * correlationSize);
  let sumOfSquares = 0;
  for (let index = 0; index < correlation.length; index += 1) {
    const value = square[2 * index] ?? 0;
    correlation[index] = value;
    if (index > 0) sumOfSquares += value * value;
  }
  const deviation = Math.sqrt(sumOfSquares / correlation.length) || 1;
  return correlation.map((value) => value / deviation);
}

/** Returns the largest value at a shift and beside it. */
function peakAt(correlation: Float64Array, x: number, y: number): number {
  const [column, row] = [Math.round(x), Math.round(y)];
  const mask = correlationSize - 1;
  let peak = Number.NEGATIVE_INFINITY;
  for (let down = -1; down <= 1; down += 1)
    for (let across = -1; across <= 1; across += 1)
      peak = Math.max(peak, correlation[((row + down) & mask) * correlationSize + ((column + across) & mask)] ?? 0);
  return peak;
}

/** Returns how well a grid explains the correlation: a picture with tiles looks like itself when it is moved by whole tiles. */
function rateGrid(correlation: Float64Array, { tile, angle }: Grid, maxShift: { readonly x: number; readonly y: number }): number {
  const [cosine, sine] = [tile * Math.cos(angle), tile * Math.sin(angle)];
  let [sum, count] = [0, 0];
  for (let across = 0; across <= maxTilesAway; across += 1)
    for (let down = -maxTilesAway; down <= maxTilesAway; down += 1) {
      if (across === 0 && down <= 0) continue;
      const [x, y] = [across * cosine - down * sine, across * sine + down * cosine];
      if (Math.abs(x) > maxShift.x || Math.abs(y) > maxShift.y) continue;
      sum += Math.min(maxPeak, peakAt(correlation, x, y));
      count += 1;
    }
  return count < 2 ? 0 : sum / Math.sqrt(count);
}

const isAlike = (one: Grid, other: Grid) =>
  Math.abs(Math.log(one.tile / other.tile)) < 2 * (tileStep - 1) && Math.abs(one.angle - other.angle) < 2.25 * angleStep;

/** Returns the grids in which the tiles of a trace mark may lie, the likeliest first. */
export function likelyGrids(differences: Differences): readonly Grid[] {
  const correlation = selfCorrelation(differences);
  const [across, down] = [Math.min(differences.width, correlationSize), Math.min(differences.height, correlationSize)];
  const maxShift = { x: 0.6 * across, y: 0.6 * down };
  const grids: RatedGrid[] = [];
  for (let tile = minTile; tile < Math.min(maxTile, across / 1.6); tile *= tileStep)
    for (let angle = -Math.PI / 4; angle < Math.PI / 4; angle += angleStep)
      grids.push({ tile, angle, rating: rateGrid(correlation, { tile, angle }, maxShift) });
  grids.sort((one, other) => other.rating - one.rating);
  const likely: Grid[] = [];
  for (const grid of grids) {
    if (likely.length === maxGrids) break;
    if (!likely.some((other) => isAlike(grid, other))) likely.push(grid);
  }
  return likely;
}
