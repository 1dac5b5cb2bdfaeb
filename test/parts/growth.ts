const repeats = 5;

function bestOf(work: () => unknown): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < repeats; run += 1) {
    const start = performance.now();
    work();
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

/**
 * Returns by how much the cost of `work` grows when its input grows eightfold: about 8 where it is linear, 64 where it
 * is quadratic. A ratio of two measurements in one run says the same on a slow machine as on a fast one.
 * @param size of the smaller input; its cost must be well above the clock's resolution
 */
export function growthEightfold(work: (size: number) => unknown, size: number): number {
  work(size); // compiled before it is measured
  return bestOf(() => work(size * 8)) / bestOf(() => work(size));
}
