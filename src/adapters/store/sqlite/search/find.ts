import { keptCounts } from '#adapters/store/kept-counts.ts';
import { pageBySql } from '#adapters/store/page-query.ts';
import { areInputs } from '#adapters/store/sqlite/connection.ts';
import type { Store, Tx } from '#ports/store.ts';
import type { Searcher } from './searcher.ts';

/** Answers pages of searches: a word by the texts in memory, all else by SQL, both in the thread of long questions. */
export function findBySqlite(db: Tx, searcher: Searcher): Store['find'] {
  const counts = keptCounts();
  return async (search) => {
    const { holding, matches, order, behind, startIndex, pageSize, narrowed } = search;
    if (!holding) return pageBySql(db, matches, search, counts);
    const { sql, parameters } = db.selectFrom(matches.rows).select(['id', 'value']).compile();
    if (!areInputs(parameters)) throw new TypeError('a parameter is none that SQLite takes');
    const page = await searcher.find(holding, { sql, parameters, order, behind, startIndex, pageSize, narrowed });
    return page ?? pageBySql(db, holding.matches, search, counts);
  };
}
