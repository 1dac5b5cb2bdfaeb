/** Tells the operator what a start is busy with: a step takes minutes where there are millions of records. */
export function announceSteps(names: readonly string[]): void {
  process.stderr.write(`Postern updates the database (${names.join(', ')}). This may take some minutes.\n`);
}
