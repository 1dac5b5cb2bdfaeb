import { type Expression, type ReferenceExpression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { includesRole } from '#core/authorization/role.ts';
import { fold } from '#core/fold.ts';
import { parseInstant } from '#core/instant.ts';
import { fieldRefusal } from '#core/messages.ts';
import { defaultPageSize, type PageQuery, sortOrders } from '#core/records/search.ts';
import type { Caller } from '#features/operation.ts';
import type { Ports } from '#ports/ports.ts';
import type { Matches, SearchScope } from '#ports/search.ts';
import type { Store, Tx } from '#ports/store.ts';
import type { Database } from '#ports/tables.ts';
import { type Cursor, readCursor, writeCursor } from './search-cursor.ts';

/** Maps each sort field to its column, or to an SQL expression to sort by. */
export type Sortable = Readonly<Record<string, string | Expression<unknown>>>;

/** The parsed parameters of a search page. */
export interface SearchPageRequest {
  readonly word: string | null;
  /** First time of the date range, ms since the epoch; null: no limit. */
  readonly from: number | null;
  /** First time after the date range, ms since the epoch; null: no limit. */
  readonly before: number | null;
  readonly startIndex: number;
  readonly pageSize: number;
  readonly field: string;
  readonly sortBy: Expression<unknown>;
  readonly order: 'asc' | 'desc';
  /** The cursor that this page continues from; null: the page is located by `startIndex`. */
  readonly after: Cursor | null;
}

export interface SearchResult {
  readonly ids: readonly number[];
  readonly total: number;
  /** The cursor of the next page, or null on the last page. */
  readonly next: string | null;
}

/** The sort value of an empty column. It is lower than every value in the database. */
export const emptySortValue = Number.MIN_SAFE_INTEGER;

/** Returns a sort expression for a nullable column. With it, both engines sort empty values before all others in ascending order. */
export const emptyFirst = (column: string) => sql<number>`coalesce(${sql.ref(column)}, ${sql.lit(emptySortValue)})`;

const maxSortLength = 200; // characters

/** Returns a sort expression for the start of a long text: for a late page, the database holds the values of all earlier rows in memory. */
export const sortablePrefix = (column: string) => sql<string>`substr(${sql.ref(column)}, 1, ${sql.lit(maxSortLength)})`;

function parseDateFilter(field: 'fromDate' | 'toDate', text: string | undefined): number | null {
  if (text === undefined || text === '') return null;
  const instant = parseInstant(text, field === 'fromDate' ? 'firstOfDay' : 'firstOfNextDay');
  if (instant === null) throw fieldRefusal(field, 'must be an existing date or date-time in ISO 8601 format');
  // The range includes toDate. A date without a time was parsed to the start of the next day already.
  return field === 'toDate' && text.includes(':') ? instant + 1 : instant;
}

/** Parses the parameters that all searches have in common. @param sortable columns by sort field. @throws Refusal (400) */
export function parsePage(query: PageQuery, sortable: Sortable): SearchPageRequest {
  const field = query.sortField ?? 'id';
  const sortBy = Object.hasOwn(sortable, field) ? sortable[field] : undefined;
  if (sortBy === undefined) throw fieldRefusal('sortField', `must be one of ${Object.keys(sortable).join(', ')}`);
  const order = Object.entries(sortOrders).find(([word]) => word === (query.sortOrder ?? 'asc').toLowerCase())?.[1];
  if (!order) throw fieldRefusal('sortOrder', `must be one of ${Object.keys(sortOrders).join(', ')}`);
  const after = query.after === undefined ? null : readCursor(query.after, field, order);
  if (after && query.startIndex !== undefined) throw fieldRefusal('startIndex', 'must not be combined with after');
  return {
    word: query.searchWord ? fold(query.searchWord) : null,
    from: parseDateFilter('fromDate', query.fromDate),
    before: parseDateFilter('toDate', query.toDate),
    startIndex: after?.index ?? query.startIndex ?? 0,
    pageSize: query.pageSize ?? defaultPageSize,
    field,
    after,
    sortBy: typeof sortBy === 'string' ? sql.ref(sortBy) : sortBy,
    order,
  };
}

/** A word to find through the text index, in the texts of the records or of their locations. */
interface Word {
  readonly word: string;
  /** Ids of the locations whose own text contains the word. */
  readonly locationIds: readonly number[];
  /** The same search as an SQL condition. */
  readonly condition: Expression<SqlBool>;
}

/** Records that the database keeps a count of. */
interface CountedRecords extends SearchScope {
  /** Whether the search has a filter other than the word. */
  readonly hasOtherFilters: boolean;
  /** Whether the number of matches stays the same until one of these records changes. */
  readonly isCacheable: boolean;
}

interface SearchRequest<TB extends keyof Database> {
  /** The records that match all filters except an indexed word. */
  readonly matches: SelectQueryBuilder<Database, TB, object>;
  readonly page: SearchPageRequest;
  readonly id: ReferenceExpression<Database, TB>;
  readonly word?: Word | null;
  readonly countedRecords?: CountedRecords;
}

const sumOf = (column: string) => sql<number>`coalesce(sum(${sql.ref(column)}), 0)`;

/** Returns the number of a tenant's records, and a version that changes when one of them changes; null: a count must not be cached. */
async function recordCount(db: Tx, { table, tid, isCacheable }: CountedRecords) {
  const [counts, column] = table === 'share' ? (['share_count', 'shares'] as const) : (['user_count', 'users'] as const);
  const { total, changes } = await db
    .selectFrom(counts)
    .select([sumOf(column).as('total'), sumOf('changes').as('changes')])
    .where('tid', '=', tid)
    .executeTakeFirstOrThrow();
  return { total, version: isCacheable ? String(changes) : null };
}

/** Returns the ids of a page, the exact number of matches, and the cursor of the next page. */
export async function findPage<TB extends keyof Database>(
  store: Store,
  { matches, page, id, word, countedRecords }: SearchRequest<TB>,
): Promise<SearchResult> {
  const idOf = sql<number>`${sql.ref(String(id))}`.as('id');
  const select = (query: typeof matches): Matches => ({
    rows: query.select([idOf, sql<string | number>`${page.sortBy}`.as('value')]).as('matches'),
    ids: query.select(idOf).as('matches'),
  });
  const count = countedRecords ? await recordCount(store.search, countedRecords) : null;
  const { rows, total } = await store.searchPage({
    matches: select(matches),
    word: word ? { ...word, matches: select(matches.where(word.condition)) } : null,
    searchedRecords: countedRecords ? { table: countedRecords.table, tid: countedRecords.tid } : null,
    hasOtherFilter: countedRecords?.hasOtherFilters ?? true,
    recordCount: count?.total ?? null,
    countVersion: count?.version ?? null,
    order: page.order,
    after: page.after,
    startIndex: page.startIndex,
    pageSize: page.pageSize,
  });
  const last = rows.at(-1);
  const index = page.startIndex + rows.length;
  const next = last && index < total ? writeCursor(page.field, page.order, { ...last, index }) : null;
  return { ids: rows.map((row) => row.id), total, next };
}

const maxReadRecords = 100;

/** Returns the connection to read a page's records with. A few records are read directly: sending them between threads costs more. */
export const connectionForRecords = ({ read, search }: Store, ids: readonly number[]): Tx => (ids.length <= maxReadRecords ? read : search);

/** Returns the response of a search: the records of a page in the envelope that all searches share. */
export function searchResponse(
  kind: string,
  result: Omit<SearchResult, 'ids'> & { readonly list: readonly object[] },
  page: SearchPageRequest,
  filtered: boolean,
  caller: Caller,
  { limits }: Pick<Ports, 'limits'>,
  changeRole: 'editor' | 'admin',
) {
  const mayChange = includesRole(caller.role, changeRole);
  return {
    list: result.list,
    startIndex: page.startIndex,
    pageSize: page.pageSize,
    resultCount: result.list.length,
    totalCount: result.total,
    containerType: kind,
    searchType: filtered ? 'filtered' : 'all',
    startupMessage: '',
    maxFileSize: limits.maxFileSize,
    canDelete: mayChange,
    canUpload: mayChange,
    canDownload: true,
    canDownloadFolder: false,
    canRename: mayChange,
    canCreateFolder: false,
    copyProtect: false,
    // Not part of the response body: the HTTP layer sends it in the Link header.
    next: result.next,
  };
}

const pageParameters = ['after', 'startIndex', 'pageSize', 'sortField', 'sortOrder', 'details'];

export const hasFilter = (query: object) =>
  Object.entries(query).some(([name, value]) => !pageParameters.includes(name) && value !== undefined && value !== '');
