import { type Expression, type ReferenceExpression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { fold } from '#core/fold.ts';
import { parseInstant } from '#core/instant.ts';
import { fieldRefusal } from '#core/messages.ts';
import { reaches } from '#core/policy/role.ts';
import { defaultPageSize, type PageQuery, sortOrders } from '#core/records/search.ts';
import type { Ports } from '#ports/ports.ts';
import type { Database } from '#ports/tables.ts';
import type { Caller } from './operation.ts';
import { type Cursor, readCursor, writeCursor } from './search-cursor.ts';

/** By the field that sorts: its column, or what is sorted by in its place. */
export type Sortable = Readonly<Record<string, string | Expression<unknown>>>;

/** Which page of which records, read once. */
export interface Page {
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
export interface Found {
  readonly ids: readonly number[];
  readonly total: number;
  /** The cursor of the next page; null: this is the last. */
  readonly next: string | null;
}

/** A column that may be empty, sorted alike by every engine: what is empty comes first. */
export const emptyFirst = (column: string) => sql<number>`coalesce(${sql.ref(column)}, ${sql.lit(Number.MIN_SAFE_INTEGER)})`;

function instantIn(field: 'fromDate' | 'toDate', text: string | undefined): number | null {
  if (text === undefined || text === '') return null;
  const found = parseInstant(text, field === 'fromDate' ? 'firstOfDay' : 'firstOfNextDay');
  if (found === null) throw fieldRefusal(field, 'must be an ISO 8601 date or date-time that exists');
  // toDate itself is still within; a date alone already stands for the next day's first instant.
  return field === 'toDate' && text.includes(':') ? found + 1 : found;
}

/** Reads what all searches take. @param sortable columns by the field that sorts by them */
export function readPage(query: PageQuery, sortable: Sortable): Page {
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

/** A substring of the folded text, in any script: both engines compare code points. */
export const holdsWord = (column: string, word: string) =>
  sql<SqlBool>`${sql.ref(column)} like ${`%${word.replace(/[\\%_]/g, '\\$&')}%`} escape '\\'`;

/** What comes behind a record: the first comparison alone lets an index be entered there. */
function behind({ sortBy, order }: Page, { value, id }: Cursor, idColumn: string): Expression<SqlBool> {
  const [from, past] = order === 'asc' ? [sql`>=`, sql`>`] : [sql`<=`, sql`<`];
  return sql<SqlBool>`(${sortBy} ${from} ${value} and (${sortBy} ${past} ${value} or ${sql.ref(idColumn)} ${past} ${id}))`;
}

/** The ids of a page and the exact number of matches. */
export async function findPage<TB extends keyof Database>(
  matches: SelectQueryBuilder<Database, TB, object>,
  page: Page,
  id: ReferenceExpression<Database, TB>,
): Promise<Found> {
  const idColumn = String(id);
  const counted = await matches.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
  const rows = await (page.after ? matches.where(behind(page, page.after, idColumn)) : matches)
    .select([sql<number>`${sql.ref(idColumn)}`.as('id'), sql<string | number>`${page.sortBy}`.as('value')])
    .orderBy(page.sortBy, page.order)
    .orderBy(sql.ref(idColumn), page.order)
    .limit(page.pageSize)
    .offset(page.after ? 0 : page.startIndex)
    .execute();
  const last = rows.at(-1);
  const index = page.startIndex + rows.length;
  const next = last && index < counted.total ? writeCursor(page.field, page.order, { ...last, index }) : null;
  return { ids: rows.map((row) => row.id), total: counted.total, next };
}

/** Puts the records of a page into the envelope of every search. */
export function envelope(
  kind: string,
  found: Omit<Found, 'ids'> & { readonly list: readonly object[] },
  page: Page,
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
export const filters = (query: object) =>
  Object.entries(query).some(([name, value]) => !pageOnly.includes(name) && value !== undefined && value !== '');
