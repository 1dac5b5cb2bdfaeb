import type { Migration } from './migration.ts';

/**
 * The steps that a database has still to take.
 * @param done names of those that it holds
 * @throws where it holds one that this program does not know: it is newer
 */
export function pendingSteps(done: readonly string[], migrations: readonly Migration[]): readonly Migration[] {
  const unknown = done.find((name) => !migrations.some((migration) => migration.name === name));
  if (unknown !== undefined) throw new Error(`the database was made by a newer Postern (it holds ${unknown})`);
  return migrations.filter(({ name }) => !done.includes(name));
}
