import { sql } from 'kysely';
import type { Store, Tx } from '#ports/store.ts';
import { applicationName } from './pool.ts';

// A database that is dropped and made anew has another number, and so has a table; one that is still empty has none.
const identity = sql<{
  identity: string;
}>`SELECT concat(oid, ' ', to_regclass('secret_key')::oid) AS identity FROM pg_database WHERE datname = current_database()`;

const others = sql<{ found: boolean }>`SELECT exists(SELECT 1 FROM pg_stat_activity
  WHERE datname = current_database() AND application_name LIKE 'postern%' AND application_name <> ${applicationName}) AS found`;

/** Which database this is, and who else uses it. */
export const identityOver = (db: Tx): Pick<Store, 'identity' | 'isUsedByOthers'> => ({
  identity: async () => (await identity.execute(db)).rows[0]?.identity ?? '',
  isUsedByOthers: async () => (await others.execute(db)).rows[0]?.found === true,
});
