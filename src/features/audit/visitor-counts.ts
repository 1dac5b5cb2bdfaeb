import { sql } from 'kysely';
import { formatInstant, millisecondsPerDay } from '#core/instant.ts';
import type { RunInTurn } from '#features/operation.ts';
import type { Tx } from '#ports/store.ts';

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

/**
 * Counts visits. A visit is everything that one visitor does at one link from one address in one half hour of the clock. Separate ranges
 * that begin and end at half hours share no visit, so their counts can be added up.
 */
const visits = sql<number>`count(distinct coalesce(share_id, 0) || ' ' || address || ' ' || (at - at % ${sql.lit(halfHour)}))`;

/**
 * What one visitor did on one day (UTC). A report that is read in several windows can return several objects for the same day and visitor:
 * add their counts.
 */
export interface VisitorCounts {
  /** First instant of the day, ms since the epoch. */
  readonly start: number;
  /** Name of the visitor in the last of the counted entries; empty: a visitor without a name. */
  readonly visitor: string;
  /** null: nobody had signed in, or an earlier version wrote the entries. Such entries are counted by name. */
  readonly identityKey: string | null;
  readonly visits: number;
  readonly downloads: number;
  readonly uploads: number;
  /** Time of the last of the counted entries, ms since the epoch. */
  readonly last: number;
}

/** Which entries a report covers. Times in ms since the epoch; null: no limit. */
export interface ReportRange {
  readonly tid: number;
  /** null: all shares of the tenant. */
  readonly shareId: number | null;
  readonly from: number | null;
  readonly before: number | null;
}

/**
 * Selects all entries of a range. Compares the share and the time together, and `newestFirst` sorts by both: PostgreSQL might otherwise not
 * use the index of the share's entries.
 */
function allEntries(db: Tx, { tid, shareId, from, before }: ReportRange) {
  const entries = db.selectFrom('audit').where('tid', '=', tid);
  const [first, end] = [from ?? 0, before ?? Number.MAX_SAFE_INTEGER];
  if (shareId === null) return entries.where('at', '>=', first).where('at', '<', end);
  return entries
    .where(sql<boolean>`(share_id, at) >= (${sql.lit(shareId)}, ${sql.lit(first)})`)
    .where(sql<boolean>`(share_id, at) < (${sql.lit(shareId)}, ${sql.lit(end)})`);
}

/** Selects the entries of admitted visitors. */
const visitorEntries = (db: Tx, range: ReportRange) =>
  allEntries(db, range)
    .where('actor_kind', '=', 'visitor')
    .where('outcome', 'in', ['done', 'begun'])
    .where('action', 'in', [...admittedActions]);

function newestFirst(entries: ReturnType<typeof allEntries>, shareId: number | null) {
  return shareId === null ? entries.orderBy('at', 'desc').orderBy('id', 'desc') : entries.orderBy('share_id', 'desc').orderBy('at', 'desc');
}

const maxEntries = 2500; // of one window: reading them takes about 20 ms, and other reports wait meanwhile
const partsOfWindow = 4; // reading a part of a half hour returns a row for each visit, so a part holds fewer entries than a window

const floorToHalfHour = (time: number) => time - (time % halfHour);

/** A range of time that is read in one turn. Times in ms since the epoch. */
interface Window {
  readonly from: number;
  readonly before: number;
  /** Start of the half hour of which this is a part. null: whole half hours. */
  readonly partOf: number | null;
}

/**
 * Returns the newest half hours of a range that hold at most `max` entries together. Entries of operators count too: the database reads
 * them, to find those of visitors. If the newest half hour alone holds more, returns a part of it: at most a quarter of `max` entries,
 * or all entries of one millisecond.
 * @param dividedStart start of the half hour of which a part was returned before: the rest of it is returned in parts too
 * @returns null if the range holds no entries
 */
async function newestWindow(db: Tx, range: ReportRange, max: number, dividedStart: number | null): Promise<Window | null> {
  const times = newestFirst(allEntries(db, range), range.shareId).select('at').limit(1);
  const newest = await times.executeTakeFirst();
  if (!newest) return null;
  const before = newest.at + 1;
  const start = floorToHalfHour(newest.at);
  if (start !== dividedStart) {
    const tooOld = await times.offset(max).executeTakeFirst();
    const from = tooOld ? floorToHalfHour(tooOld.at) + halfHour : 0;
    if (from <= start) return { from: Math.max(from, range.from ?? 0), before, partOf: null };
  }
  const tooOldForPart = await times.offset(Math.ceil(max / partsOfWindow)).executeTakeFirst();
  const from = tooOldForPart ? Math.min(tooOldForPart.at + 1, newest.at) : start;
  return { from: Math.max(from, start, range.from ?? 0), before, partOf: start };
}

/** Groups the entries without an identity by the visitor's name. */
const nameWithoutIdentity = sql`case when identity_key is null then actor end`;

const timeOffset = 1_000_000_000_000_000; // ms: with it, every time has 16 digits, so that the texts sort like the times

/** The name in the newest entry: the greatest text of time and name, without the time. */
const newestName = sql<string>`substr(max(cast(${sql.lit(timeOffset)} + at as text) || actor), 17)`;

/** Selects what visitors did, by day and visitor, the newest first. */
function visitorSums(db: Tx, range: ReportRange) {
  const start = sql<number>`at - at % ${sql.lit(millisecondsPerDay)}`;
  return visitorEntries(db, range)
    .select([start.as('start'), newestName.as('visitor'), 'identity_key as identityKey', visits.as('visits')])
    .select([countActions('download', 'downloadFolder').as('downloads'), countActions('upload').as('uploads')])
    .select(sql<number>`max(at)`.as('last'))
    .groupBy(start)
    .groupBy('identity_key')
    .groupBy(nameWithoutIdentity)
    .orderBy('last', 'desc');
}

/**
 * Reads what visitors did in a part of a half hour, with a row for each visit.
 * @param countedVisits keys of the visits in the parts that were read before; the function adds the visits of this part
 */
async function readPart(db: Tx, range: ReportRange, countedVisits: Set<string>): Promise<VisitorCounts[]> {
  const rows = await visitorSums(db, range).select(['share_id', 'address']).groupBy('share_id').groupBy('address').execute();
  return rows.map(({ share_id, address, ...day }) => {
    const { size } = countedVisits;
    countedVisits.add(JSON.stringify([day.identityKey ?? [day.visitor], share_id, address]));
    return { ...day, visits: countedVisits.size - size };
  });
}

/** Reads a report in windows, the newest first. */
class WindowReader {
  readonly #db: Tx;
  readonly #range: ReportRange;
  readonly #max: number;
  #before: number | null;
  #dividedHalfHour: { readonly start: number; readonly countedVisits: Set<string> } | null = null;

  constructor(db: Tx, range: ReportRange, max: number) {
    this.#db = db;
    this.#range = range;
    this.#max = max;
    this.#before = range.before;
  }

  /** Reads the next window. @returns null after the last one */
  async next(): Promise<VisitorCounts[] | null> {
    const rest = { ...this.#range, before: this.#before };
    const window = await newestWindow(this.#db, rest, this.#max, this.#dividedHalfHour?.start ?? null);
    if (!window) return null;
    const { from, before, partOf } = window;
    this.#before = from;
    const range = { ...this.#range, from, before };
    if (partOf === null) return visitorSums(this.#db, range).execute();
    if (this.#dividedHalfHour?.start !== partOf) this.#dividedHalfHour = { start: partOf, countedVisits: new Set() };
    return readPart(this.#db, range, this.#dividedHalfHour.countedVisits);
  }
}

/**
 * Reads what visitors did, by day and visitor, the newest first. A long history is read in windows, each in a turn of its
 * own: the reports of other tenants run between them.
 * @param max entries that one window holds at most, unless one millisecond holds more
 */
export async function* visitorDays(
  db: Tx,
  range: ReportRange,
  inTurn: RunInTurn,
  max = maxEntries,
): AsyncGenerator<readonly VisitorCounts[]> {
  const reader = new WindowReader(db, range, max);
  for (;;) {
    const days = await inTurn(() => reader.next());
    if (!days) return;
    yield days;
  }
}

/** What visitors did, added up. */
export type VisitSums = Pick<VisitorCounts, 'visits' | 'downloads' | 'uploads'>;

/** Sums of a day (UTC), as responses show them. */
export type DayCounts = VisitSums & { readonly date: string };

export const addSums = (one: VisitSums, other: VisitSums): VisitSums => ({
  visits: one.visits + other.visits,
  downloads: one.downloads + other.downloads,
  uploads: one.uploads + other.uploads,
});

/** Adds sums to the entry of a key in a map. */
export function addToKey<K>(sums: Map<K, VisitSums>, key: K, { visits, downloads, uploads }: VisitSums): void {
  sums.set(key, addSums(sums.get(key) ?? { visits: 0, downloads: 0, uploads: 0 }, { visits, downloads, uploads }));
}

/** Returns the sums by day, the oldest first, from a map by the first instant of each day. */
export const dayCounts = (sums: ReadonlyMap<number, VisitSums>): DayCounts[] =>
  [...sums].sort(([one], [other]) => one - other).map(([start, counts]) => ({ date: formatInstant(start).slice(0, 10), ...counts }));
