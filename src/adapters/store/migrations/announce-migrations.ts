/** Prints the pending steps before a start applies them: a step takes minutes in a database of millions of records. */
export function announceMigrations(names: readonly string[]): void {
  process.stderr.write(`Postern is migrating the database (${names.join(', ')}). This may take several minutes.\n`);
}
