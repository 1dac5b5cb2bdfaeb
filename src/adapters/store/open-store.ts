import type { Store } from '#ports/store.ts';
import { openSqliteStore } from './sqlite/sqlite-store.ts';

/**
 * The database of an installation. What PostgreSQL needs is loaded only where it is asked for.
 * @param databaseUrl null: the embedded one in `folder`
 * @param lost called when the embedded one's disk failed: the process must end unanswered
 */
export async function openStore(databaseUrl: string | null, folder: string, lost: (cause: unknown) => void): Promise<Store> {
  if (databaseUrl === null) return openSqliteStore(folder, lost);
  const { openPostgresStore } = await import('./postgres/postgres-store.ts');
  return openPostgresStore(databaseUrl);
}
