import type { Store } from '#ports/store.ts';
import { openSqliteStore } from './sqlite/sqlite-store.ts';

interface StoreSettings {
  /** URL of a PostgreSQL database; null: use the SQLite database in `folder`. */
  readonly databaseUrl: string | null;
  readonly folder: string;
  /** Bytes that SQLite's word search may use. */
  readonly searchMemory: number;
  /** Returns the address of the client whose request is running: on PostgreSQL, the short queries of different networks take turns. */
  readonly clientAddress?: () => string | undefined;
}

/**
 * Opens the database of an installation. The code for PostgreSQL is loaded only when it is used.
 * @param onLost called when the disk of the SQLite database failed: the process must end without another response
 */
export async function openStore(settings: StoreSettings, onLost: (cause: unknown) => void): Promise<Store> {
  const { databaseUrl, folder, searchMemory, clientAddress } = settings;
  if (databaseUrl === null) return openSqliteStore(folder, onLost, searchMemory);
  const { openPostgresStore } = await import('./postgres/postgres-store.ts');
  return openPostgresStore(databaseUrl, clientAddress);
}
