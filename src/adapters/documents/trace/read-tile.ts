import type { Trace } from '#ports/documents.ts';
import { bitCount, cellsPerSide, idOfBits, sumBits, traceTile } from './trace-tile.ts';

const minAgreement = 0.65; // less is probably a wrong number whose checksum is right by chance
const weakBits = 10; // the bits that are least certain are tried both ways, at most three at a time

/** Yields the sets of at most three of these numbers. */
function* smallSets(numbers: readonly number[]): Generator<readonly number[]> {
  yield [];
  for (const [index, first] of numbers.entries()) {
    yield [first];
    for (const [next, second] of numbers.slice(0, index).entries()) {
      yield [first, second];
      for (const third of numbers.slice(0, next)) yield [first, second, third];
    }
  }
}

/** Returns the id that fits the cells of a tile best; null: none fits enough of them. @param values one per cell, greater if lighter */
export function readTile(values: Float64Array): Trace | null {
  const sums = sumBits(values);
  const weakest = Array.from({ length: bitCount }, (_, bit) => bit)
    .sort((one, other) => Math.abs(sums[one] ?? 0) - Math.abs(sums[other] ?? 0))
    .slice(0, weakBits);
  let best: Trace | null = null;
  for (const flipped of smallSets(weakest)) {
    const id = idOfBits(sums.map((sum, bit) => (flipped.includes(bit) ? -sum : sum)));
    if (id === null) continue;
    const tile = traceTile(id);
    const agreeing = values.filter((value, cell) => value * (tile[cell] ?? 0) > 0);
    const agreement = agreeing.length / (cellsPerSide * cellsPerSide);
    if (agreement >= Math.max(minAgreement, best?.agreement ?? 0)) best = { traceId: id, agreement };
  }
  return best;
}
