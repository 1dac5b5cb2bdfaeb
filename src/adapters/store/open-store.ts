import type { Store } from '#ports/store.ts';
import { openSqliteStore } from './sqlite/sqlite-store.ts';

/**
 * The database of an installation. What PostgreSQL needs is loaded only where it is asked for.
 * @param databaseUrl null: the embedded one in `folder`
 * @param searchMemory of the embedded one, for words in searches; bytes
 * @param lost called when the embedded one's disk failed: the process must end unanswered
 */
export async function openStore(
  { databaseUrl, folder, searchMemory }: { databaseUrl: string | null; folder: string; searchMemory: number },
  lost: (cause: unknown) => void,
): Promise<Store> {
  if (databaseUrl === null) return openSqliteStore(folder, lost, searchMemory);
  const { openPostgresStore } = await import('./postgres/postgres-store.ts');
  return openPostgresStore(databaseUrl);
}
