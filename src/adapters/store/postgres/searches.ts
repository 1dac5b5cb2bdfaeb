import type { Kysely } from 'kysely';
import { cachedCounts } from '#adapters/store/cached-counts.ts';
import { kyselyWithDriver } from '#adapters/store/kysely-driver.ts';
import { findPageBySql, materializeMatches, pageRowsQuery, type SelectPage } from '#adapters/store/page-query.ts';
import type { Store } from '#ports/store.ts';
import type { Database } from '#ports/tables.ts';
import { StatementTimeout } from './errors.ts';
import type { ConnectionPool } from './pool.ts';
import { postgresDialect } from './sql-dialect.ts';

/** Timeouts of searches, and when they apply. */
interface SearchLimits {
  /** Timeout of a statement, ms. */
  readonly statementTimeout: number;
  /** Timeout for reading a page along the index of the sort field, ms (see `postgresSearch`). */
  readonly walkTimeout: number;
  /** Up to this number of matches, a page is read without `walkTimeout`. */
  readonly maxUnlimitedMatches: number;
}

type Run = <T>(query: () => Promise<T>) => Promise<T>;
const runImmediately: Run = (query) => query();

/** Returns a Kysely that runs each query on any free connection. @param run schedules each query */
export const kyselyOnPool = (connections: ConnectionPool, run = runImmediately): Kysely<Database> =>
  kyselyWithDriver(postgresDialect, (text, parameters) =>
    run(() => connections.withClient((client) => connections.query(client, text, parameters))),
  );

/** Returns a Kysely whose queries have the timeout `walkTimeout`. A query that exceeds it closes its connection. */
function kyselyWithWalkTimeout(
  connections: ConnectionPool,
  { walkTimeout: walk, statementTimeout: statement }: SearchLimits,
): Kysely<Database> {
  return kyselyWithDriver(postgresDialect, (text, parameters) =>
    connections.withClient(async (client) => {
      await connections.execute(client, `SET statement_timeout = ${walk}`);
      try {
        return await connections.query(client, text, parameters);
      } finally {
        await connections.execute(client, `SET statement_timeout = ${statement}`);
      }
    }),
  );
}

/**
 * Returns the functions that search. If a word has many matches, the database can read a page along the index of the sort field, because
 * the rows of the page are mostly near the beginning of the index. If they are not, reading takes minutes, so it has a timeout. After the
 * timeout, the database finds all matches and sorts them.
 */
export function postgresSearch(connections: ConnectionPool, limits: SearchLimits): Pick<Store, 'search' | 'searchPage'> {
  const search = kyselyOnPool(connections);
  const walkSearch = kyselyWithWalkTimeout(connections, limits);
  const counts = cachedCounts();
  const selectPage: SelectPage = async (matches, query, range, total) => {
    if (!query.word || total <= limits.maxUnlimitedMatches) return pageRowsQuery(search, matches, query, range).execute();
    try {
      return await pageRowsQuery(walkSearch, matches, query, range).execute();
    } catch (cause) {
      if (!(cause instanceof StatementTimeout)) throw cause;
      return pageRowsQuery(search, materializeMatches(matches, 'OFFSET 0'), query, range).execute();
    }
  };
  return { search, searchPage: (query) => findPageBySql(search, query.word?.matches ?? query.matches, query, counts, selectPage) };
}
