const repeats = 20;

function timeOf(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

/**
 * Returns by how much the cost of `work` grows when its input grows eightfold: about 8 where it is linear, 64 where it
 * is quadratic. A ratio of two measurements in one run says the same on a slow machine as on a fast one.
 * @param size of the smaller input; its cost must be well above the clock's resolution
 */
export function growthEightfold(work: (size: number) => unknown, size: number): number {
  let [small, large] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  // The best of each, measured in turn: other processes take the time of some of them.
  for (let run = 0; run < repeats; run += 1) {
    small = Math.min(
      small,
      timeOf(() => work(size)),
    );
    large = Math.min(
      large,
      timeOf(() => work(size * 8)),
    );
  }
  return large / small;
}
