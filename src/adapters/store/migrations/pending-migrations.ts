import type { Migration } from './migration.ts';

/**
 * Returns the steps that are not applied to a database yet.
 * @param done names of the applied steps
 * @throws Error if an applied step is unknown to this program: the database is newer
 */
export function pendingMigrations(done: readonly string[], migrations: readonly Migration[]): readonly Migration[] {
  const unknown = done.find((name) => !migrations.some((migration) => migration.name === name));
  if (unknown !== undefined)
    throw new Error(
      `the database was migrated by a newer version of Postern (it contains migration ${unknown}): install that version or a later one`,
    );
  return migrations.filter(({ name }) => !done.includes(name));
}
