import { sql } from 'kysely';
import type { Matches, SearchPage, SearchQuery } from '#ports/search.ts';
import type { Tx } from '#ports/store.ts';
import type { CachedCounts } from './cached-counts.ts';

function counted(db: Tx, matches: Matches, version: string | null, counts: CachedCounts): Promise<number> {
  const query = db.selectFrom(matches.ids).select(sql<number>`count(*)`.as('total')).compile();
  return counts.of(version, query, async () => (await db.executeQuery(query)).rows[0]?.total ?? 0);
}

/** Which rows of so many to take, from whichever end is nearer. */
export interface PageCut {
  readonly reversed: boolean;
  readonly offset: number;
  readonly limit: number;
}

/** A page deep in the second half is near the end: walked from there, it is as cheap as one near the beginning. */
export function cutOf({ after, startIndex, pageSize }: Pick<SearchQuery, 'after' | 'startIndex' | 'pageSize'>, total: number): PageCut {
  const limit = Math.max(0, Math.min(pageSize, total - startIndex));
  if (after) return { reversed: false, offset: 0, limit: pageSize };
  return startIndex > total / 2
    ? { reversed: true, offset: total - startIndex - limit, limit }
    : { reversed: false, offset: startIndex, limit };
}

/** The rows of a page. The first comparison alone lets an index be entered where a walk goes on. */
export function rowsOf(db: Tx, matches: Pick<Matches, 'rows'>, { order, after }: SearchQuery, { reversed, offset, limit }: PageCut) {
  const direction = (order === 'asc') === reversed ? 'desc' : 'asc';
  const [from, past] = order === 'asc' ? [sql`>=`, sql`>`] : [sql`<=`, sql`<`];
  let rows = db.selectFrom(matches.rows).select(['id', 'value']);
  if (after) rows = rows.where(sql<boolean>`(value ${from} ${after.value} and (value ${past} ${after.value} or id ${past} ${after.id}))`);
  return rows.orderBy('value', direction).orderBy('id', direction).limit(limit).offset(offset);
}

/**
 * The same rows, all of them found before they are put in order, by the index of what they are filtered by.
 * @param fence what an engine's planner does not look through from the ORDER BY outside
 */
export function materialized({ rows }: Matches, fence: 'OFFSET 0' | 'LIMIT -1 OFFSET 0'): Pick<Matches, 'rows'> {
  const all = sql<{ id: number; value: string | number }>`(SELECT * FROM ${rows} ${sql.raw(fence)})`;
  return { rows: all.as('found') };
}

/** So few among so many that each is looked up; otherwise they are met on the way through all. */
export const areFew = (count: number, size: number, most: number) => count <= most && count * 20 < size;

/** Takes the rows of a page. @param total how many match in all */
export type SelectPage = (matches: Matches, search: SearchQuery, cut: PageCut, total: number) => Promise<SearchPage['rows']>;

/** Answers a page by the database's own means, all filters in `matches`. */
export async function pageBySql(
  db: Tx,
  matches: Matches,
  search: SearchQuery,
  counts: CachedCounts,
  take: SelectPage = (found, asked, cut) => rowsOf(db, found, asked, cut).execute(),
): Promise<SearchPage> {
  const { size, narrowed, word: holding, version } = search;
  const total = size !== null && !narrowed && !holding ? size : await counted(db, matches, version, counts);
  const cut = cutOf(search, total);
  if (cut.limit === 0) return { rows: [], total };
  const rows = await take(matches, search, cut, total);
  return { rows: cut.reversed ? rows.toReversed() : rows, total };
}
