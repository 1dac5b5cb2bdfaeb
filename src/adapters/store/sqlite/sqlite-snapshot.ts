import { join } from 'node:path';
import { kyselyWithDriver } from '#adapters/store/kysely-driver.ts';
import type { Snapshot } from '#ports/snapshot.ts';
import { openConnection } from './connection.ts';
import { sqliteLastIds } from './last-ids.ts';
import { sqliteDialect } from './sql-dialect.ts';

/** Runs `work` on a snapshot of the present state of a SQLite database. In WAL mode it blocks no writer, in any process. */
export async function withSqliteSnapshot<T>(folder: string, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  const { database, run } = openConnection(join(folder, 'postern.db'), { readOnly: true });
  try {
    database.exec('BEGIN');
    const db = kyselyWithDriver(sqliteDialect, run);
    return await work({ db, lastIds: await sqliteLastIds(db) });
  } finally {
    database.close();
  }
}
