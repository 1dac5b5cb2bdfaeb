import { sql } from 'kysely';
import type { Store, Tx } from '#ports/store.ts';
import { applicationName } from './pool.ts';

// A database that is dropped and created again gets another oid, and so does a table. The table here is `secret_key`; if it is missing, its
// oid is null.
const databaseIdQuery = sql<{
  id: string;
}>`SELECT concat(oid, ' ', to_regclass('secret_key')::oid) AS id FROM pg_database WHERE datname = current_database()`;

const otherProcessesQuery = sql<{ found: boolean }>`SELECT exists(SELECT 1 FROM pg_stat_activity
  WHERE datname = current_database() AND application_name LIKE 'postern%' AND application_name <> ${applicationName}) AS found`;

/** Returns the functions that return the database's id, and whether another Postern process uses the database. */
export const databaseIdentification = (db: Tx): Pick<Store, 'databaseId' | 'isUsedByOthers'> => ({
  databaseId: async () => (await databaseIdQuery.execute(db)).rows[0]?.id ?? '',
  isUsedByOthers: async () => (await otherProcessesQuery.execute(db)).rows[0]?.found === true,
});
