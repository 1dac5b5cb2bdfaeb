import { type SelectQueryBuilder, sql } from 'kysely';
import { day, formatInstant } from '#core/instant.ts';
import type { Tx } from '#ports/store.ts';
import type { Database } from '#ports/tables.ts';

const halfHour = 1_800_000; // ms
const counted = (...of: string[]) => sql<number>`sum(case when action in (${sql.join(of)}) then count else 0 end)`;

/**
 * What somebody does who was admitted to a share. To sign in is none of it: a person whom the share refuses has signed in
 * too.
 */
export const admittedActions = [
  'visit',
  'list',
  'view',
  'download',
  'downloadFolder',
  'upload',
  'createFolder',
  'rename',
  'delete',
] as const;

/** A visit: all that one visitor does at a link from one address within half an hour, whichever routes the client calls. */
const visits = sql<number>`count(distinct coalesce(share_id, 0) || ' ' || actor || ' ' || address || ' ' || (at - at % ${sql.lit(halfHour)}))`;

/** What visitors did, summed over audit entries. */
export const visitorSums = { visits, downloads: counted('download', 'downloadFolder'), uploads: counted('upload') };

/** What visitors of a tenant did in that time (ms since the epoch; null: without a bound). */
export function visitorEntries(db: Tx, tid: number, from: number | null, before: number | null) {
  let rows = db
    .selectFrom('audit')
    .where('tid', '=', tid)
    .where('actor_kind', '=', 'visitor')
    .where('outcome', 'in', ['done', 'begun'])
    .where('action', 'in', [...admittedActions]);
  if (from !== null) rows = rows.where('at', '>=', from);
  return before === null ? rows : rows.where('at', '<', before);
}
export type VisitorEntries = SelectQueryBuilder<Database, 'audit', object>;

/** The sums by day in UTC; days without any are left out. */
export async function countsByDay(rows: VisitorEntries) {
  const start = sql<number>`at - at % ${sql.lit(day)}`;
  const days = await rows
    .select([start.as('start'), visitorSums.visits.as('visits'), visitorSums.downloads.as('downloads'), visitorSums.uploads.as('uploads')])
    .groupBy(start)
    .orderBy('start')
    .execute();
  return days.map(({ start: at, ...numbers }) => ({ date: formatInstant(at).slice(0, 10), ...numbers }));
}
