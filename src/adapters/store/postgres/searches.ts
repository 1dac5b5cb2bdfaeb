import type { Kysely } from 'kysely';
import { cachedCounts } from '#adapters/store/cached-counts.ts';
import { kyselyWithDriver } from '#adapters/store/kysely-driver.ts';
import { materialized, pageBySql, rowsOf, type SelectPage } from '#adapters/store/page-query.ts';
import type { Store } from '#ports/store.ts';
import type { Database } from '#ports/tables.ts';
import { TookTooLong } from './errors.ts';
import { postgres } from './language.ts';
import type { Connections } from './pool.ts';

/** How long pages are looked for. */
interface Patience {
  /** Milliseconds that one statement may take. */
  readonly statement: number;
  /** Milliseconds of walking along an index before the matches are gathered. */
  readonly walk: number;
  /** So many matches are left to the database's own choice. */
  readonly few: number;
}

type Run = <T>(query: () => Promise<T>) => Promise<T>;
const atOnce: Run = (query) => query();

/** Queries that any free connection answers. @param run runs each, such as in its turn */
export const kyselyWith = (connections: Connections, run = atOnce): Kysely<Database> =>
  kyselyWithDriver(postgres, (text, parameters) => run(() => connections.with((client) => connections.ask(client, text, parameters))));

/** Queries of which each is given up after a while, the connection with it. */
function hastily(connections: Connections, { walk, statement }: Patience): Kysely<Database> {
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
 * Finds pages. Many matches are looked for along the index of their order, where the first of them mostly lie near; where
 * they do not (all titles that begin with another word come before), that takes minutes, and they are gathered instead.
 */
export function searchesOver(connections: Connections, patience: Patience): Pick<Store, 'search' | 'find'> {
  const search = kyselyWith(connections);
  const hasty = hastily(connections, patience);
  const counts = cachedCounts();
  const take: SelectPage = async (matches, asked, cut, total) => {
    if (!asked.word || total <= patience.few) return rowsOf(search, matches, asked, cut).execute();
    try {
      return await rowsOf(hasty, matches, asked, cut).execute();
    } catch (cause) {
      if (!(cause instanceof TookTooLong)) throw cause;
      return rowsOf(search, materialized(matches, 'OFFSET 0'), asked, cut).execute();
    }
  };
  return { search, find: (asked) => pageBySql(search, asked.word?.matches ?? asked.matches, asked, counts, take) };
}
