import { join } from 'node:path';
import { kyselyWithDriver } from '#adapters/store/kysely-driver.ts';
import type { Snapshot } from '#ports/snapshot.ts';
import { openConnection } from './connection.ts';
import { sqlite } from './language.ts';
import { lastIds } from './last-ids.ts';

/** Works on what an embedded database holds now: a reader holds up no writer (WAL), in whichever process it is. */
export async function withSqliteSnapshot<T>(folder: string, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  const { database, run } = openConnection(join(folder, 'postern.db'), { readOnly: true });
  try {
    database.exec('BEGIN');
    const db = kyselyWithDriver(sqlite, run);
    return await work({ db, lastIds: await lastIds(db) });
  } finally {
    database.close();
  }
}
