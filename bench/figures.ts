/** One line of the results: a figure and its target. */
export interface Figure {
  readonly what: string;
  readonly reference: string;
  readonly ours: string;
  readonly ratio: string;
  readonly target: string;
  readonly holds: boolean;
}

export const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/**
 * Measures the reference and Postern in pairs. The first pair is a warm-up and does not count.
 * @param slices measurements of each server per pair, in the order reference, ours, ours, reference, and so on. If the number is even, a
 *   slow change of the machine's speed affects both about equally
 * @returns the medians of both and of the ratios, and the spread of the ratios
 */
export async function measurePairs(rounds: number, reference: () => Promise<number>, ours: () => Promise<number>, slices = 1) {
  const pairs: [number, number][] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const pair: [number, number] = [0, 0];
    for (let slice = 0; slice < slices; slice += 1) {
      if (slice % 2 === 1) pair[1] += (await ours()) / slices;
      pair[0] += (await reference()) / slices;
      if (slice % 2 === 0) pair[1] += (await ours()) / slices;
    }
    if (round > 0) pairs.push(pair);
  }
  const ratios = pairs.map(([a, b]) => b / a);
  return {
    reference: median(pairs.map(([a]) => a)),
    ours: median(pairs.map(([, b]) => b)),
    ratio: median(ratios),
    spread: `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`,
  };
}

type Pair = Awaited<ReturnType<typeof measurePairs>>;

/** Returns a figure for a rate that must be at least `target` times the reference's rate. */
export function atLeast(what: string, unit: string, pair: Pair, target: number): Figure {
  const formatValue = (value: number) => `${value >= 100 ? Math.round(value) : value.toFixed(2)} ${unit}`;
  return {
    what,
    reference: formatValue(pair.reference),
    ours: formatValue(pair.ours),
    ratio: `${pair.ratio.toFixed(2)} (${pair.spread})`,
    target: `at least ${target}`,
    holds: pair.ratio >= target,
  };
}

/** Returns a figure without a target, for comparison: the rate of a smaller program, or of a part of Postern's work. */
export const comparisonFigure = (what: string, unit: string, pair: Pair): Figure => ({
  ...atLeast(what, unit, pair, 0),
  target: 'none: for comparison',
});

/** Returns a quantile. @param fraction from 0 to 1 */
export const percentile = (values: readonly number[], fraction: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * fraction))] ?? Number.NaN;

/** Returns a figure that may be at most `bound`. It has no reference. */
export function atMost(what: string, value: number, bound: number, unit: string): Figure {
  return {
    what,
    reference: '',
    ours: `${value.toFixed(value < 10 ? 2 : 0)} ${unit}`,
    ratio: '',
    target: `at most ${bound} ${unit}`,
    holds: value <= bound,
  };
}

/** Returns each figure beside its value in the previous results. */
export function compareFigures(figures: readonly Figure[], before: string): string {
  const rows = new Map(
    before
      .split('\n')
      .map((line) => line.split('|').map((cell) => cell.trim()))
      .map(([, what = '', , ours, ratio]) => [what, ratio || ours]),
  );
  return figures.map(({ what, ours, ratio }) => `${what}: ${rows.get(what) ?? 'new'} -> ${ratio || ours}`).join('\n');
}

/** Returns the results as a Markdown page. */
export function resultsPage(figures: readonly Figure[], machine: string): string {
  const rows = figures.map(
    ({ what, reference, ours, ratio, target, holds }) =>
      `| ${what} | ${reference} | ${ours} | ${ratio} | ${target} | ${holds ? 'yes' : '**no**'} |`,
  );
  return `# Benchmark results\n\n${machine}\n\nA figure whose ratio has a spread in parentheses is the median of five rounds after a warm-up round (of three rounds for the rows with S3, with many requests for codes and with the directory that hangs). Rounds of the reference and of Postern alternate. The ratio is the median of the ratios of all pairs; the smallest and the largest of them are in parentheses. Other figures are measured as their names say. Rows with the target "none: for comparison" measure the smallest program that does the same, nginx alone, or a part of Postern's work: they show what Postern could reach at best.\nMeasured by \`npm run bench\`.\n\n| What | Reference | Postern | Ratio | Target | Met |\n|---|---|---|---|---|---|\n${rows.join('\n')}\n`;
}
