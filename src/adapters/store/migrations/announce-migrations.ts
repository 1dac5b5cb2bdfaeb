/** Prints the pending steps before they are applied: a step may take minutes in a database of millions of records. */
export function announceMigrations(names: readonly string[]): void {
  process.stderr.write(`Postern is migrating the database (${names.join(', ')}). This may take several minutes.\n`);
}
