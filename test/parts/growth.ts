const repeats = 20;

function timeOf(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

/**
 * Returns the factor by which the time of `work` grows when its input grows eightfold: about 8 if it is linear, 64 if it
 * is quadratic. The ratio of two measurements in one run does not depend on the speed of the machine.
 * @param size of the smaller input; its cost must be well above the clock's resolution
 */
export function growthFactor(work: (size: number) => unknown, size: number): number {
  let [small, large] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  // Takes the minimum of alternating measurements, because other processes slow some of them down.
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
