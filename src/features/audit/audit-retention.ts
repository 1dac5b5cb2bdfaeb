import { sql } from 'kysely';
import { formatDay, millisecondsPerDay } from '#core/instant.ts';
import { bytesOf } from '#features/records/page-bytes.ts';
import type { Ports } from '#ports/ports.ts';

const hour = 3_600_000;
const batchSize = 1000; // entries in one transaction, so that other changes get their turn
const batchBytes = 4 << 20; // bytes of long texts in one transaction: the database reads each page of these texts from the disk
const maxGap = 7 * millisecondsPerDay; // between two entries: after a longer gap the clock may be wrong
const waitAfterGap = 24 * hour; // gives the operator time to notice a wrong clock

/** Logs what retention deletes, or why it waits. */
export type RetentionLog = (line: string) => void;

/** Deletes audit entries that are older than POSTERN_AUDIT_DAYS. */
export interface AuditRetention {
  /** Deletes the expired entries of at most one day. */
  run(): Promise<void>;
}

type RetentionPorts = Pick<Ports, 'store' | 'clock' | 'limits'>;

const startOfDay = (time: number) => time - (time % millisecondsPerDay);

/** Returns the time of the oldest (`asc`) or newest (`desc`) entry that is not pending, in ms, or null if there is none. */
async function findEntryTime({ store }: RetentionPorts, order: 'asc' | 'desc'): Promise<number | null> {
  const entries = store.read.selectFrom('audit').select('at').where('outcome', '!=', 'begun');
  const row = await entries.orderBy('at', order).limit(1).executeTakeFirst();
  return row?.at ?? null;
}

/**
 * Finds the last entry with a time before `end`. Returns the time of the next entry, in ms, or null. If this time is much later than
 * `end`, the clock may have been behind when the earlier entries were written, and retention would delete entries that are not old.
 */
async function findNextEntryTime({ store }: RetentionPorts, end: number): Promise<number | null> {
  // `max(id)` would be slow: SQLite would scan the complete table from the newest entry backwards.
  const last = store.read.selectFrom('audit').select(sql<number>`max(id + 0)`.as('id')).where('at', '<', end);
  const row = await store.read.selectFrom('audit').select('at').where('id', '>', last).orderBy('id').limit(1).executeTakeFirst();
  return row?.at ?? null;
}

/** Returns the oldest entries before a time, without pending ones: at most as many as one transaction may delete. */
async function findOldestEntries({ store }: RetentionPorts, before: number): Promise<{ tid: number; id: number }[]> {
  const rows = await store.reports
    .selectFrom('audit')
    .select(['tid', 'id', bytesOf(['before', 'after', 'search_text']).as('bytes')])
    .where('at', '<', before)
    .where('outcome', '!=', 'begun')
    .orderBy('at')
    .limit(batchSize)
    .execute();
  let bytes = 0;
  const end = rows.findIndex((row) => {
    bytes += Number(row.bytes);
    return bytes > batchBytes;
  });
  return end < 0 ? rows : rows.slice(0, Math.max(1, end));
}

/** Deletes the entries before a time, except pending ones. @returns how many */
async function deleteBefore(ports: RetentionPorts, before: number): Promise<number> {
  const { store } = ports;
  for (let deletedCount = 0; ; ) {
    const entries = await findOldestEntries(ports, before);
    if (entries.length === 0) return deletedCount;
    for (const [tid, rows] of Map.groupBy(entries, (row) => row.tid)) {
      const ids = rows.map(({ id }) => id);
      await store.write((tx) => tx.deleteFrom('audit').where('tid', '=', tid).where('id', 'in', ids).execute(), 'job');
    }
    deletedCount += entries.length;
  }
}

/**
 * Returns the retention of the audit log. If the clock were ahead by more than POSTERN_AUDIT_DAYS, retention would delete the complete
 * log. Therefore it deletes the entries of at most one day each hour. It deletes nothing if, counted since Postern started, the clock and
 * the monotonic clock differ by more than an hour. After a gap of more than `maxGap` between two entries, or between the newest entry and
 * the start of Postern, it waits for a day.
 * @param elapsed ms since an arbitrary time, from a monotonic clock
 */
export function auditRetention(ports: RetentionPorts, elapsed: () => number, log: RetentionLog): AuditRetention {
  const start = { now: ports.clock.now(), elapsed: elapsed() };
  let newestAtStart = findEntryTime(ports, 'desc');
  newestAtStart.catch(() => {}); // if the database is unavailable now, `run` reads the time again
  let deletedAt: number | null = null;

  /** Returns why nothing may be deleted now, or null if entries may be deleted. */
  async function findReasonToWait(now: number, before: number): Promise<string | null> {
    const running = elapsed() - start.elapsed;
    if (Math.abs(now - start.now - running) > hour)
      return 'the clock of this machine was changed after Postern started: check the clock, then restart Postern';
    const newest = await newestAtStart.catch(() => {
      newestAtStart = findEntryTime(ports, 'desc');
      return newestAtStart;
    });
    if (newest !== null && start.now - newest > maxGap && running < waitAfterGap)
      return `when Postern started, the newest entry was from ${formatDay(newest)}: check the clock. Deletion waits for one day`;
    const next = await findNextEntryTime(ports, before);
    if (next !== null && next - before > maxGap && now - next < waitAfterGap)
      return `the next entry is from ${formatDay(next)}, so the clock may have been wrong before: check the dates of older entries. Deletion waits for one day`;
    return null;
  }

  return {
    async run() {
      const now = ports.clock.now();
      const end = startOfDay(now) - ports.limits.auditDays * millisecondsPerDay;
      const oldest = await findEntryTime(ports, 'asc');
      if (oldest === null || oldest >= end) return;
      // One day of entries an hour: with a wrong clock, the operator has time to notice before all entries are deleted.
      if (deletedAt !== null && elapsed() - deletedAt < hour) return;
      const before = Math.min(end, startOfDay(oldest) + millisecondsPerDay);
      const reason = await findReasonToWait(now, before);
      if (reason !== null) return log(`audit entries of ${formatDay(oldest)} and later are not deleted: ${reason}`);
      log(`deleting audit entries before ${formatDay(before)}: POSTERN_AUDIT_DAYS is ${ports.limits.auditDays}`);
      const deletedCount = await deleteBefore(ports, before);
      deletedAt = elapsed();
      log(`deleted ${deletedCount} audit entries`);
    },
  };
}
