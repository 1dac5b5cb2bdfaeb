import { cachedCounts } from '#adapters/store/cached-counts.ts';
import { findPageBySql, isSelective, materializeMatches, pageRowsQuery, type SelectPage } from '#adapters/store/page-query.ts';
import { areSqlInputs } from '#adapters/store/sqlite/connection.ts';
import type { Store, Tx } from '#ports/store.ts';
import type { SearchThread } from './search-thread-client.ts';

const maxLookupsByFilter = 25_000; // matches that are found by the index of their filter, and then sorted

/**
 * Returns the function that finds pages. Words are searched in memory if the records have searchable texts and these fit; everything else
 * is searched by SQL. Both run in search threads.
 * @param longSearches runs searches of records without a text index: the audit log has hundreds of thousands of records
 */
export function sqliteSearch(records: Tx, longSearches: Tx, searcher: SearchThread): Store['searchPage'] {
  const counts = cachedCounts();
  /** Finds all matches before it sorts them, if they are few: reading the index of the sort field would read nearly all of it. */
  const selectPageFrom =
    (db: Tx): SelectPage =>
    (matches, query, range, total) => {
      const isScattered = query.hasOtherFilter && isSelective(total, query.recordCount ?? 0, maxLookupsByFilter);
      return pageRowsQuery(db, isScattered ? materializeMatches(matches, 'LIMIT -1 OFFSET 0') : matches, query, range).execute();
    };
  return async (search) => {
    const { word, searchedRecords: texts, matches, order, after, startIndex, pageSize, hasOtherFilter } = search;
    const db = texts ? records : longSearches;
    const selectPage = selectPageFrom(db);
    if (!word || !texts) {
      const page = await findPageBySql(db, word?.matches ?? matches, search, counts, selectPage);
      if (texts && startIndex === 0) searcher.preload(texts); // a caller that opens a list may search it next
      return page;
    }
    const { sql, parameters } = db.selectFrom(matches.rows).select(['id', 'value']).compile();
    if (!areSqlInputs(parameters)) throw new TypeError('a parameter has a type that SQLite does not support');
    const page = await searcher.find(texts, word, { sql, parameters, order, after, startIndex, pageSize, hasOtherFilter });
    return page ?? findPageBySql(db, word.matches, search, counts, selectPage);
  };
}
