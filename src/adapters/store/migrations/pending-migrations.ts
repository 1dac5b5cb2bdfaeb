import type { Migration } from './migration.ts';

/**
 * Returns the steps that are not applied to a database yet.
 * @param appliedNames names of the applied steps
 * @throws Error if an applied step is unknown to this program: the database is newer
 */
export function pendingMigrations(appliedNames: readonly string[], migrations: readonly Migration[]): readonly Migration[] {
  const unknownName = appliedNames.find((name) => !migrations.some((migration) => migration.name === name));
  if (unknownName !== undefined)
    throw new Error(
      `the database was migrated by a newer version of Postern (it contains migration ${unknownName}): install that version or a later one`,
    );
  return migrations.filter(({ name }) => !appliedNames.includes(name));
}
