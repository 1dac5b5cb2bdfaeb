import { cachedCounts } from '#adapters/store/cached-counts.ts';
import { areFew, materialized, pageBySql, rowsOf, type SelectPage } from '#adapters/store/page-query.ts';
import { areInputs } from '#adapters/store/sqlite/connection.ts';
import type { Store, Tx } from '#ports/store.ts';
import type { Searcher } from './searcher.ts';

const few = 25_000; // looked up along the index of their filter

/** Answers pages of searches: a word by the texts in memory, all else by SQL, both in the thread of long questions. */
export function findBySqlite(db: Tx, searcher: Searcher): Store['find'] {
  const counts = cachedCounts();
  /** Few among very many may lie anywhere along the index of their order: all of it would be walked. */
  const take: SelectPage = (matches, asked, cut, total) => {
    const scattered = asked.narrowed && areFew(total, asked.size ?? 0, few);
    return rowsOf(db, scattered ? materialized(matches, 'LIMIT -1 OFFSET 0') : matches, asked, cut).execute();
  };
  return async (search) => {
    const { word: holding, texts, matches, order, after, startIndex, pageSize, narrowed } = search;
    if (!holding || !texts) {
      const page = await pageBySql(db, holding?.matches ?? matches, search, counts, take);
      if (texts && startIndex === 0) searcher.expect(texts); // who looks at a list's beginning may search it
      return page;
    }
    const { sql, parameters } = db.selectFrom(matches.rows).select(['id', 'value']).compile();
    if (!areInputs(parameters)) throw new TypeError('a parameter is none that SQLite takes');
    const page = await searcher.find(texts, holding, { sql, parameters, order, after, startIndex, pageSize, narrowed });
    return page ?? pageBySql(db, holding.matches, search, counts, take);
  };
}
