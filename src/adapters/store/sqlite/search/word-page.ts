import type { SQLInputValue } from 'node:sqlite';
import { areFew, cutOf } from '#adapters/store/page-query.ts';
import type { Connection } from '#adapters/store/sqlite/connection.ts';
import type { SearchPage, SearchQuery } from '#ports/search.ts';
import type { IdSet } from './id-set.ts';

/** A page of the records that hold a word, as it is asked of the thread. */
export interface WordPage extends Pick<SearchQuery, 'order' | 'after' | 'startIndex' | 'pageSize' | 'narrowed'> {
  /** Selects what the other filters let through, as `id` and `value`. */
  readonly sql: string;
  readonly parameters: readonly SQLInputValue[];
}

const few = 5000; // looked up one by one, by number

/** Answers pages from what the index of so many records found. */
export function wordPages({ database, run }: Connection): (matches: IdSet, size: number, asked: WordPage) => SearchPage {
  let present: IdSet | undefined;
  // Asked by SQLite record by record: several times as fast as handing the records out and looking at them here.
  database.function('holds_word', (id) => (present?.has(Number(id)) ? 1 : 0));

  return (matches, size, { sql, parameters, order, after, narrowed, ...place }) => {
    present = matches;
    const isFew = areFew(matches.count(), size, few);
    // The order of a CROSS JOIN stays: each match is looked up, and no index is walked to meet it.
    const source = isFew
      ? `FROM json_each(?) AS entry CROSS JOIN (${sql}) AS found ON found.id = entry.value WHERE true`
      : `FROM (${sql}) AS found WHERE holds_word(found.id)`;
    const values = [...(isFew ? [JSON.stringify(matches.all())] : []), ...parameters];
    const rows = (text: string, ...more: SQLInputValue[]) => run(text, [...values, ...more]).rows;
    const total = narrowed ? Number(Reflect.get(Object(rows(`SELECT count(*) AS total ${source}`)[0]), 'total')) : matches.count();
    const { reversed, offset, limit } = cutOf({ after, ...place }, total);
    const direction = (order === 'asc') === reversed ? 'DESC' : 'ASC';
    const [from, past] = order === 'asc' ? ['>=', '>'] : ['<=', '<'];
    const page = rows(
      `SELECT found.id, found.value ${source} ${after ? `AND found.value ${from} ? AND (found.value ${past} ? OR found.id ${past} ?)` : ''}
        ORDER BY found.value ${direction}, found.id ${direction} LIMIT ? OFFSET ?`,
      ...(after ? [after.value, after.value, after.id] : []),
      limit,
      offset,
    ) as SearchPage['rows'][number][]; // what the query selects
    return { rows: reversed ? page.reverse() : page, total };
  };
}
