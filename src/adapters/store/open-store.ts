import type { Store } from '#ports/store.ts';
import { openSqliteStore } from './sqlite/sqlite-store.ts';

/**
 * Opens the database of an installation. The code for PostgreSQL is loaded only when it is used.
 * @param databaseUrl address of a PostgreSQL server; null: the SQLite database in `folder`
 * @param searchMemory bytes that SQLite's word search may use
 * @param onLost called when the disk of the SQLite database failed: the process must end without another response
 */
export async function openStore(
  { databaseUrl, folder, searchMemory }: { databaseUrl: string | null; folder: string; searchMemory: number },
  onLost: (cause: unknown) => void,
): Promise<Store> {
  if (databaseUrl === null) return openSqliteStore(folder, onLost, searchMemory);
  const { openPostgresStore } = await import('./postgres/postgres-store.ts');
  return openPostgresStore(databaseUrl);
}
