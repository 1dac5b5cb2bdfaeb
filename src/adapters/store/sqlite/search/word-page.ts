import type { SQLInputValue } from 'node:sqlite';
import { isSelective, pageRange } from '#adapters/store/page-query.ts';
import type { Connection } from '#adapters/store/sqlite/connection.ts';
import type { SearchPage, SearchQuery } from '#ports/search.ts';
import type { IdSet } from './id-set.ts';

/** The request for a page of records that contain a word. */
export interface WordPageRequest extends Pick<SearchQuery, 'order' | 'after' | 'startIndex' | 'pageSize' | 'hasOtherFilter'> {
  /** Query that selects the records that pass the other filters, as `id` and `value`. */
  readonly sql: string;
  readonly parameters: readonly SQLInputValue[];
}

const maxLookupsById = 5000; // matches that are looked up one by one, by id

/** Returns a function that selects a page from the matches of an index. Its parameter `size` is the number of records in the index. */
export function wordPageFinder({ database, run }: Connection): (matches: IdSet, size: number, page: WordPageRequest) => SearchPage {
  let currentMatches: IdSet | undefined;
  // SQLite calls this function for each record. This is several times as fast as returning all records and testing them here.
  database.function('holds_word', (id) => (currentMatches?.has(Number(id)) ? 1 : 0));

  return (matches, size, { sql, parameters, order, after, hasOtherFilter, ...place }) => {
    currentMatches = matches;
    const isFew = isSelective(matches.count(), size, maxLookupsById);
    // SQLite keeps the order of a CROSS JOIN: it looks up each match instead of walking an index.
    const source = isFew
      ? `FROM json_each(?) AS entry CROSS JOIN (${sql}) AS matches ON matches.id = entry.value WHERE true`
      : `FROM (${sql}) AS matches WHERE holds_word(matches.id)`;
    const values = [...(isFew ? [JSON.stringify(matches.toArray())] : []), ...parameters];
    const queryRows = (text: string, ...more: SQLInputValue[]) => run(text, [...values, ...more]).rows;
    const total = hasOtherFilter
      ? Number(Reflect.get(Object(queryRows(`SELECT count(*) AS total ${source}`)[0]), 'total'))
      : matches.count();
    const { reversed, offset, limit } = pageRange({ after, ...place }, total);
    const direction = (order === 'asc') === reversed ? 'DESC' : 'ASC';
    const [atOrAfter, strictlyAfter] = order === 'asc' ? ['>=', '>'] : ['<=', '<'];
    const position = after
      ? `AND matches.value ${atOrAfter} ? AND (matches.value ${strictlyAfter} ? OR matches.id ${strictlyAfter} ?)`
      : '';
    const rows = queryRows(
      `SELECT matches.id, matches.value ${source} ${position}
        ORDER BY matches.value ${direction}, matches.id ${direction} LIMIT ? OFFSET ?`,
      ...(after ? [after.value, after.value, after.id] : []),
      limit,
      offset,
    ) as SearchPage['rows'][number][]; // the query selects these two columns
    return { rows: reversed ? rows.reverse() : rows, total };
  };
}
