import { type Expression, type ReferenceExpression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { fold } from '#core/fold.ts';
import { parseInstant } from '#core/instant.ts';
import { fieldRefusal } from '#core/messages.ts';
import { reaches } from '#core/policy/role.ts';
import { defaultPageSize, type PageQuery, sortOrders } from '#core/records/search.ts';
import type { Ports } from '#ports/ports.ts';
import type { Database } from '#ports/tables.ts';
import type { Caller } from './operation.ts';

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
  readonly sortBy: Expression<unknown>;
  readonly order: 'asc' | 'desc';
}

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
  return {
    word: query.searchWord ? fold(query.searchWord) : null,
    from: instantIn('fromDate', query.fromDate),
    before: instantIn('toDate', query.toDate),
    startIndex: query.startIndex ?? 0,
    pageSize: query.pageSize ?? defaultPageSize,
    sortBy: typeof sortBy === 'string' ? sql.ref(sortBy) : sortBy,
    order,
  };
}

/** A substring of the folded text, in any script: both engines compare code points. */
export const holdsWord = (column: string, word: string) =>
  sql<SqlBool>`${sql.ref(column)} like ${`%${word.replace(/[\\%_]/g, '\\$&')}%`} escape '\\'`;

/** The ids of a page and the exact number of matches. */
export async function findPage<TB extends keyof Database>(
  matches: SelectQueryBuilder<Database, TB, object>,
  page: Page,
  id: ReferenceExpression<Database, TB>,
): Promise<{ ids: number[]; total: number }> {
  const counted = await matches.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
  const rows = await matches
    .select(sql<number>`${sql.ref(String(id))}`.as('id'))
    .orderBy(page.sortBy, page.order)
    .orderBy(sql.ref(String(id)), page.order)
    .limit(page.pageSize)
    .offset(page.startIndex)
    .execute();
  return { ids: rows.map((row) => row.id), total: counted.total };
}

/** Puts the records of a page into the envelope of every search. */
export function envelope(
  kind: string,
  found: { readonly list: readonly object[]; readonly total: number },
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
  };
}

const pageOnly = ['startIndex', 'pageSize', 'sortField', 'sortOrder', 'details'];

/** Does the query leave any record out? */
export const filters = (query: object) =>
  Object.entries(query).some(([name, value]) => !pageOnly.includes(name) && value !== undefined && value !== '');
