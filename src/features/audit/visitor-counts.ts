import { type SelectQueryBuilder, sql } from 'kysely';
import { day, formatInstant } from '#core/instant.ts';
import type { Tx } from '#ports/store.ts';
import type { Database } from '#ports/tables.ts';

const halfHour = 1_800_000; // ms
const countActions = (...actions: string[]) => sql<number>`sum(case when action in (${sql.join(actions)}) then count else 0 end)`;

/** Actions of visitors who were admitted to a share. Sign-in is not one of them: the share may refuse a signed-in visitor. */
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

/** Counts visits. A visit is everything that one visitor does at one link from one address within half an hour. */
const visits = sql<number>`count(distinct coalesce(share_id, 0) || ' ' || actor || ' ' || address || ' ' || (at - at % ${sql.lit(halfHour)}))`;

/** Sums of visits, downloads and uploads over audit entries. */
export const visitorSums = { visits, downloads: countActions('download', 'downloadFolder'), uploads: countActions('upload') };

/**
 * Returns a query for the audit entries of admitted visitors of a tenant.
 * @param from first time, ms since the epoch; null: no limit
 * @param before first time after the range, ms since the epoch; null: no limit
 */
export function visitorEntries(db: Tx, tid: number, from: number | null, before: number | null) {
  let entries = db
    .selectFrom('audit')
    .where('tid', '=', tid)
    .where('actor_kind', '=', 'visitor')
    .where('outcome', 'in', ['done', 'begun'])
    .where('action', 'in', [...admittedActions]);
  if (from !== null) entries = entries.where('at', '>=', from);
  return before === null ? entries : entries.where('at', '<', before);
}
export type VisitorEntries = SelectQueryBuilder<Database, 'audit', object>;

/** Returns the sums by day in UTC, without days that have no entries. */
export async function countsByDay(entries: VisitorEntries) {
  const start = sql<number>`at - at % ${sql.lit(day)}`;
  const days = await entries
    .select([start.as('start'), visitorSums.visits.as('visits'), visitorSums.downloads.as('downloads'), visitorSums.uploads.as('uploads')])
    .groupBy(start)
    .orderBy('start')
    .execute();
  return days.map(({ start: at, ...numbers }) => ({ date: formatInstant(at).slice(0, 10), ...numbers }));
}
