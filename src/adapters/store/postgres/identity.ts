import { sql } from 'kysely';
import type { Store, Tx } from '#ports/store.ts';
import { applicationName } from './pool.ts';

// A database that is dropped and created again gets another oid, and so does a table. In an empty database the table's is null.
const identityQuery = sql<{
  identity: string;
}>`SELECT concat(oid, ' ', to_regclass('secret_key')::oid) AS identity FROM pg_database WHERE datname = current_database()`;

const otherProcessesQuery = sql<{ found: boolean }>`SELECT exists(SELECT 1 FROM pg_stat_activity
  WHERE datname = current_database() AND application_name LIKE 'postern%' AND application_name <> ${applicationName}) AS found`;

/** Returns the functions that identify the database and tell whether another process uses it. */
export const databaseIdentity = (db: Tx): Pick<Store, 'identity' | 'isUsedByOthers'> => ({
  identity: async () => (await identityQuery.execute(db)).rows[0]?.identity ?? '',
  isUsedByOthers: async () => (await otherProcessesQuery.execute(db)).rows[0]?.found === true,
});
