import { sql } from 'kysely';
import type { Matches, SearchPage, SearchQuery } from '#ports/search.ts';
import type { Tx } from '#ports/store.ts';
import type { CachedCounts } from './cached-counts.ts';

function countMatches(db: Tx, matches: Matches, version: string | null, counts: CachedCounts): Promise<number> {
  const query = db.selectFrom(matches.ids).select(sql<number>`count(*)`.as('total')).compile();
  return counts.count(version, query, async () => (await db.executeQuery(query)).rows[0]?.total ?? 0);
}

/** The rows of a page. The offset counts from the nearer end of all matches, or from the position `after`. */
export interface PageRange {
  /** Whether the offset counts from the end. */
  readonly reversed: boolean;
  readonly offset: number;
  readonly limit: number;
}

/** Returns the range of a page. A page in the second half is read from the end, which is as cheap as one near the beginning. */
export function pageRange(
  { after, startIndex, pageSize }: Pick<SearchQuery, 'after' | 'startIndex' | 'pageSize'>,
  total: number,
): PageRange {
  const limit = Math.max(0, Math.min(pageSize, total - startIndex));
  if (after) return { reversed: false, offset: 0, limit: pageSize };
  return startIndex > total / 2
    ? { reversed: true, offset: total - startIndex - limit, limit }
    : { reversed: false, offset: startIndex, limit };
}

/** Returns the query for the rows of a page. With `after`, the first comparison lets the database start within an index. */
export function pageRowsQuery(
  db: Tx,
  matches: Pick<Matches, 'rows'>,
  { order, after }: SearchQuery,
  { reversed, offset, limit }: PageRange,
) {
  const direction = (order === 'asc') === reversed ? 'desc' : 'asc';
  const [atOrAfter, strictlyAfter] = order === 'asc' ? [sql`>=`, sql`>`] : [sql`<=`, sql`<`];
  let rows = db.selectFrom(matches.rows).select(['id', 'value']);
  if (after)
    rows = rows.where(
      sql<boolean>`(value ${atOrAfter} ${after.value} and (value ${strictlyAfter} ${after.value} or id ${strictlyAfter} ${after.id}))`,
    );
  return rows.orderBy('value', direction).orderBy('id', direction).limit(limit).offset(offset);
}

/**
 * Returns the matches as a subquery: the database first finds all of them by the index of their filter, and then sorts them.
 * @param fence clause that keeps the engine's planner from moving the outer ORDER BY into the subquery
 */
export function materializeMatches({ rows }: Matches, fence: 'OFFSET 0' | 'LIMIT -1 OFFSET 0'): Pick<Matches, 'rows'> {
  const all = sql<{ id: number; value: string | number }>`(SELECT * FROM ${rows} ${sql.raw(fence)})`;
  return { rows: all.as('matches') };
}

/** Returns whether so few of `size` records match that looking up each match is cheaper than reading the index of the sort field. */
export const isSelective = (count: number, size: number, maxCount: number) => count <= maxCount && count * 20 < size;

/** Reads the rows of a page. @param total number of all matches */
export type SelectPage = (matches: Matches, search: SearchQuery, range: PageRange, total: number) => Promise<SearchPage['rows']>;

/** Returns a page of a search by SQL alone, with all filters in `matches`. */
export async function findPageBySql(
  db: Tx,
  matches: Matches,
  search: SearchQuery,
  counts: CachedCounts,
  selectPage: SelectPage = (pageMatches, query, range) => pageRowsQuery(db, pageMatches, query, range).execute(),
): Promise<SearchPage> {
  const { recordCount: size, hasOtherFilter, word, countVersion: version } = search;
  const total = size !== null && !hasOtherFilter && !word ? size : await countMatches(db, matches, version, counts);
  const range = pageRange(search, total);
  if (range.limit === 0) return { rows: [], total };
  const rows = await selectPage(matches, search, range, total);
  return { rows: range.reversed ? rows.toReversed() : rows, total };
}
