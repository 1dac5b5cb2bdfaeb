import { kyselyWithDriver } from '#adapters/store/kysely-driver.ts';
import type { Tx } from '#ports/store.ts';
import type { Connection } from './connection.ts';
import { sqliteDialect } from './sql-dialect.ts';

/** Returns the `Tx` through which the changes on a connection run their queries. @param isChangeRunning returns whether a change runs */
export const transactionOn = (connection: Connection, isChangeRunning: () => boolean): Tx =>
  kyselyWithDriver(sqliteDialect, (text, parameters) => {
    if (!isChangeRunning()) throw new Error('a change ran a query after it had ended'); // its result could not be reported
    return connection.run(text, parameters);
  });

/**
 * Rejects if a change does not complete within this iteration of the event loop. Queries of its transaction settle at once; a
 * change that awaits anything else would block all others.
 */
export async function completeInIteration<T>(change: Promise<T>): Promise<T> {
  let timer: NodeJS.Immediate | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setImmediate(() => reject(new Error('a change awaited something other than its transaction')));
  });
  try {
    return await Promise.race([change, timeout]);
  } finally {
    clearImmediate(timer);
  }
}
