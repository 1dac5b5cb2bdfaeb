import { kyselyWithDriver } from '#adapters/store/kysely-driver.ts';
import type { Snapshot } from '#ports/snapshot.ts';
import { postgresLastIds } from './last-ids.ts';
import { openPool } from './pool.ts';
import { postgresDialect } from './sql-dialect.ts';

const statementTimeout = 600_000; // ms

/** Runs `work` on a snapshot of the present state of a PostgreSQL database. */
export async function withPostgresSnapshot<T>(url: string, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  const connections = openPool(url, 1, statementTimeout);
  try {
    return await connections.withClient(async (client) => {
      await connections.execute(
        client,
        'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL idle_in_transaction_session_timeout = 0',
      );
      const db = kyselyWithDriver(postgresDialect, (sql, parameters) => connections.query(client, sql, parameters));
      const value = await work({ db, lastIds: await postgresLastIds(db) });
      await connections.execute(client, 'COMMIT');
      return value;
    });
  } finally {
    await connections.close();
  }
}
