import { kyselyWithDriver } from '#adapters/store/kysely-driver.ts';
import type { Snapshot } from '#ports/snapshot.ts';
import { postgres } from './language.ts';
import { lastIds } from './last-ids.ts';
import { openPool } from './pool.ts';

const statementTimeout = 600_000; // ms

/** Runs `work` on a snapshot of the present state of a PostgreSQL database. */
export async function withPostgresSnapshot<T>(url: string, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  const connections = openPool(url, 1, statementTimeout);
  try {
    return await connections.with(async (client) => {
      await connections.say(client, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL idle_in_transaction_session_timeout = 0');
      const db = kyselyWithDriver(postgres, (sql, parameters) => connections.ask(client, sql, parameters));
      const value = await work({ db, lastIds: await lastIds(db) });
      await connections.say(client, 'COMMIT');
      return value;
    });
  } finally {
    await connections.close();
  }
}
