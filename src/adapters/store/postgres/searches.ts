import type { Kysely } from 'kysely';
import { cachedCounts } from '#adapters/store/cached-counts.ts';
import { kyselyWithDriver } from '#adapters/store/kysely-driver.ts';
import { materialized, pageBySql, rowsOf, type SelectPage } from '#adapters/store/page-query.ts';
import type { Store } from '#ports/store.ts';
import type { Database } from '#ports/tables.ts';
import { TookTooLong } from './errors.ts';
import { postgres } from './language.ts';
import type { Connections } from './pool.ts';

/** Timeouts of searches, and when they apply. */
interface SearchLimits {
  /** Timeout of a statement, ms. */
  readonly statement: number;
  /** Timeout of a walk along the index of the order, ms. After it, all matches are gathered and sorted. */
  readonly walk: number;
  /** Up to this number of matches, PostgreSQL chooses the plan itself. */
  readonly few: number;
}

type Run = <T>(query: () => Promise<T>) => Promise<T>;
const runImmediately: Run = (query) => query();

/** Returns a Kysely that runs each query on any free connection. @param run schedules each query */
export const kyselyWith = (connections: Connections, run = runImmediately): Kysely<Database> =>
  kyselyWithDriver(postgres, (text, parameters) => run(() => connections.with((client) => connections.ask(client, text, parameters))));

/** Returns a Kysely whose queries have the timeout of a walk. A query that exceeds it closes its connection. */
function kyselyWithWalkTimeout(connections: Connections, { walk, statement }: SearchLimits): Kysely<Database> {
  return kyselyWithDriver(postgres, (text, parameters) =>
    connections.with(async (client) => {
      await connections.say(client, `SET statement_timeout = ${walk}`);
      try {
        return await connections.ask(client, text, parameters);
      } finally {
        await connections.say(client, `SET statement_timeout = ${statement}`);
      }
    }),
  );
}

/**
 * Returns the functions that search. If there are many matches, a page is read along the index of its order: the first
 * matches are mostly near its beginning. If they are not (for example because all titles that begin with another word
 * come first), that walk takes minutes: it ends after its timeout, and all matches are gathered and sorted instead.
 */
export function searchesOver(connections: Connections, limits: SearchLimits): Pick<Store, 'search' | 'find'> {
  const search = kyselyWith(connections);
  const walkSearch = kyselyWithWalkTimeout(connections, limits);
  const counts = cachedCounts();
  const selectPage: SelectPage = async (matches, query, cut, total) => {
    if (!query.word || total <= limits.few) return rowsOf(search, matches, query, cut).execute();
    try {
      return await rowsOf(walkSearch, matches, query, cut).execute();
    } catch (cause) {
      if (!(cause instanceof TookTooLong)) throw cause;
      return rowsOf(search, materialized(matches, 'OFFSET 0'), query, cut).execute();
    }
  };
  return { search, find: (query) => pageBySql(search, query.word?.matches ?? query.matches, query, counts, selectPage) };
}
