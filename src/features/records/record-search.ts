import { type Expression, type ReferenceExpression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { fold } from '#core/fold.ts';
import { parseInstant } from '#core/instant.ts';
import { fieldRefusal } from '#core/messages.ts';
import { reaches } from '#core/policy/role.ts';
import { defaultPageSize, type PageQuery, sortOrders } from '#core/records/search.ts';
import type { Caller } from '#features/operation.ts';
import type { Ports } from '#ports/ports.ts';
import type { Matches, SearchedRecords } from '#ports/search.ts';
import type { Store, Tx } from '#ports/store.ts';
import type { Database } from '#ports/tables.ts';
import { type Cursor, readCursor, writeCursor } from './search-cursor.ts';

/** By the field that sorts: its column, or what is sorted by in its place. */
export type Sortable = Readonly<Record<string, string | Expression<unknown>>>;

/** Which page of which records, read once. */
export interface SearchPageRequest {
  readonly word: string | null;
  readonly from: number | null;
  /** First instant that is too late. */
  readonly before: number | null;
  readonly startIndex: number;
  readonly pageSize: number;
  readonly field: string;
  readonly sortBy: Expression<unknown>;
  readonly order: 'asc' | 'desc';
  /** Where the walk stands that this page goes on with; null: it is found by its number. */
  readonly after: Cursor | null;
}

/** What a page of a search came to. */
export interface SearchResult {
  readonly ids: readonly number[];
  readonly total: number;
  /** The cursor of the next page; null: this is the last. */
  readonly next: string | null;
}

/** What an empty column counts as; no value is as low. */
export const asEmpty = Number.MIN_SAFE_INTEGER;

/** A column that may be empty, sorted alike by every engine: what is empty comes first. */
export const emptyFirst = (column: string) => sql<number>`coalesce(${sql.ref(column)}, ${sql.lit(asEmpty)})`;

const sortedBy = 200; // characters

/** A column of long texts, sorted by their beginnings: a page deep in the list holds what it is sorted by of all before it. */
export const beginningOf = (column: string) => sql<string>`substr(${sql.ref(column)}, 1, ${sql.lit(sortedBy)})`;

function instantIn(field: 'fromDate' | 'toDate', text: string | undefined): number | null {
  if (text === undefined || text === '') return null;
  const found = parseInstant(text, field === 'fromDate' ? 'firstOfDay' : 'firstOfNextDay');
  if (found === null) throw fieldRefusal(field, 'must be an ISO 8601 date or date-time that exists');
  // toDate itself is still within; a date alone already stands for the next day's first instant.
  return field === 'toDate' && text.includes(':') ? found + 1 : found;
}

/** Reads what all searches take. @param sortable columns by the field that sorts by them */
export function parsePage(query: PageQuery, sortable: Sortable): SearchPageRequest {
  const field = query.sortField ?? 'id';
  const sortBy = Object.hasOwn(sortable, field) ? sortable[field] : undefined;
  if (sortBy === undefined) throw fieldRefusal('sortField', `must be one of ${Object.keys(sortable).join(', ')}`);
  const order = Object.entries(sortOrders).find(([word]) => word === (query.sortOrder ?? 'asc').toLowerCase())?.[1];
  if (!order) throw fieldRefusal('sortOrder', `must be one of ${Object.keys(sortOrders).join(', ')}`);
  const after = query.after === undefined ? null : readCursor(query.after, field, order);
  if (after && query.startIndex !== undefined) throw fieldRefusal('startIndex', 'must be left out where after says where to go on');
  return {
    word: query.searchWord ? fold(query.searchWord) : null,
    from: instantIn('fromDate', query.fromDate),
    before: instantIn('toDate', query.toDate),
    startIndex: after?.index ?? query.startIndex ?? 0,
    pageSize: query.pageSize ?? defaultPageSize,
    field,
    after,
    sortBy: typeof sortBy === 'string' ? sql.ref(sortBy) : sortBy,
    order,
  };
}

/** A word that records hold in their text, or in that of what they lie in; by an index of texts, not by reading each. */
interface Word {
  readonly word: string;
  readonly within: readonly number[];
  /** The same as a condition. */
  readonly holds: Expression<SqlBool>;
}

/** Records whose number is kept. */
interface CountedRecords extends SearchedRecords {
  /** Does a filter other than the word leave any out? */
  readonly narrowed: boolean;
  /** Is the same asked again answered by the same number until one of these records changes? */
  readonly lasting: boolean;
}

/** What is searched, and how. */
interface SearchRequest<TB extends keyof Database> {
  /** What all filters but an indexed word let through. */
  readonly matches: SelectQueryBuilder<Database, TB, object>;
  readonly page: SearchPageRequest;
  readonly id: ReferenceExpression<Database, TB>;
  readonly word?: Word | null;
  readonly counted?: CountedRecords;
}

const sumOf = (column: string) => sql<number>`coalesce(sum(${sql.ref(column)}), 0)`;

/** How many records a tenant has, and a text that is another as soon as one of them has changed. */
async function recordCount(db: Tx, { table, tid, lasting }: CountedRecords) {
  const [counts, column] = table === 'share' ? (['share_count', 'shares'] as const) : (['user_count', 'users'] as const);
  const { total, changes } = await db
    .selectFrom(counts)
    .select([sumOf(column).as('total'), sumOf('changes').as('changes')])
    .where('tid', '=', tid)
    .executeTakeFirstOrThrow();
  return { total, version: lasting ? String(changes) : null };
}

/** The ids of a page and the exact number of matches. */
export async function findPage<TB extends keyof Database>(
  store: Store,
  { matches, page, id, word, counted: kept }: SearchRequest<TB>,
): Promise<SearchResult> {
  const idOf = sql<number>`${sql.ref(String(id))}`.as('id');
  const select = (found: typeof matches): Matches => ({
    rows: found.select([idOf, sql<string | number>`${page.sortBy}`.as('value')]).as('found'),
    ids: found.select(idOf).as('found'),
  });
  const counted = kept ? await recordCount(store.search, kept) : null;
  const { rows, total } = await store.find({
    matches: select(matches),
    word: word ? { ...word, matches: select(matches.where(word.holds)) } : null,
    texts: kept ? { table: kept.table, tid: kept.tid } : null,
    narrowed: kept?.narrowed ?? true,
    size: counted?.total ?? null,
    version: counted?.version ?? null,
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

const mostAtOnce = 100;

/** Where the records of a page are read: some at once, where they would only be carried from one thread to the other. */
export const recordsFrom = ({ read, search }: Store, ids: readonly number[]): Tx => (ids.length <= mostAtOnce ? read : search);

/** Puts the records of a page into the envelope of every search. */
export function envelopeOf(
  kind: string,
  found: Omit<SearchResult, 'ids'> & { readonly list: readonly object[] },
  page: SearchPageRequest,
  filtered: boolean,
  caller: Caller,
  { limits }: Pick<Ports, 'limits'>,
  changeRole: 'editor' | 'admin',
) {
  const mayChange = reaches(caller.role, changeRole);
  return {
    list: found.list,
    startIndex: page.startIndex,
    pageSize: page.pageSize,
    resultCount: found.list.length,
    totalCount: found.total,
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
    // Not in the record: the edge names it in the Link header.
    next: found.next,
  };
}

const pageOnly = ['after', 'startIndex', 'pageSize', 'sortField', 'sortOrder', 'details'];

/** Does the query leave any record out? */
export const hasFilter = (query: object) =>
  Object.entries(query).some(([name, value]) => !pageOnly.includes(name) && value !== undefined && value !== '');
