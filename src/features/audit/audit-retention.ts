import { sql } from 'kysely';
import { day } from '#core/instant.ts';
import { deleteAlerts } from '#features/alerts/enqueue-alert.ts';
import { bytesOf } from '#features/records/page-bytes.ts';
import type { Ports } from '#ports/ports.ts';

const hour = 3_600_000;
const batch = 1000; // entries at a time, so that other changes get their turn
const batchBytes = 4 << 20; // of their long texts: each of their pages is read from the disk
const largestGap = 7 * day; // since the newest entry of an earlier run: more, and the clock may be wrong
const waitAfterGap = 24 * hour; // of running, for the operator to notice

/** Says what retention does, and why it waits. */
export type RetentionLog = (line: string) => void;

/** Deletes audit entries that are older than the operator keeps them. */
export interface AuditRetention {
  /** Deletes the entries of at most one day that is over its time. */
  run(): Promise<void>;
}

type RetentionPorts = Pick<Ports, 'store' | 'clock' | 'limits'>;

const firstOf = (time: number) => time - (time % day);
const dateOf = (time: number) => new Date(time).toISOString().slice(0, 10);

async function edge({ store }: RetentionPorts, which: 'asc' | 'desc'): Promise<number | null> {
  const ended = store.read.selectFrom('audit').select('at').where('outcome', '!=', 'begun');
  const row = await ended.orderBy('at', which).limit(1).executeTakeFirst();
  return row?.at ?? null;
}

/**
 * The first entry that was written after all of those before `end`. Where it is of a much later day, the clock may have
 * been back when they were written: they would be deleted as soon as it is right.
 */
async function entryAfter({ store }: RetentionPorts, end: number): Promise<number | null> {
  // Not max(id), for which SQLite walks back from the newest entry, through the whole table.
  const last = store.read.selectFrom('audit').select(sql<number>`max(id + 0)`.as('id')).where('at', '<', end);
  const row = await store.read.selectFrom('audit').select('at').where('id', '>', last).orderBy('id').limit(1).executeTakeFirst();
  return row?.at ?? null;
}

/** The oldest entries before a moment: as many as one change may delete. */
async function oldest({ store }: RetentionPorts, before: number): Promise<{ tid: number; id: number }[]> {
  const rows = await store.reports
    .selectFrom('audit')
    .select(['tid', 'id', bytesOf(['before', 'after', 'search_text']).as('bytes')])
    .where('at', '<', before)
    .where('outcome', '!=', 'begun')
    .orderBy('at')
    .limit(batch)
    .execute();
  let bytes = 0;
  const tooMany = rows.findIndex((row) => {
    bytes += Number(row.bytes);
    return bytes > batchBytes;
  });
  return tooMany < 0 ? rows : rows.slice(0, Math.max(1, tooMany));
}

async function deleteBefore(ports: RetentionPorts, before: number): Promise<number> {
  const { store } = ports;
  for (let deleted = 0; ; ) {
    const old = await oldest(ports, before);
    if (old.length === 0) return deleted;
    for (const [tid, rows] of Map.groupBy(old, (row) => row.tid)) {
      const ids = rows.map(({ id }) => id);
      await store.write(async (tx) => {
        await deleteAlerts(tx, tid, ids);
        await tx.deleteFrom('audit').where('tid', '=', tid).where('id', 'in', ids).execute();
      }, 'job');
    }
    deleted += old.length;
  }
}

/**
 * A clock that is ahead by more than entries are kept would erase the audit log. So retention waits while the clock has
 * jumped since the start, for a day after a start that finds its newest entry long ago, and for a day after an entry of
 * much later; and it deletes one day of entries an hour, so that nothing is gone at once.
 * @param elapsed ms since an arbitrary moment, by a clock that nobody sets
 */
export function auditRetention(ports: RetentionPorts, elapsed: () => number, log: RetentionLog): AuditRetention {
  const start = { now: ports.clock.now(), elapsed: elapsed() };
  let newestAtStart = edge(ports, 'desc');
  newestAtStart.catch(() => {}); // the database is away: asked again at the run
  let deletedAt: number | null = null;

  /** Why nothing may be deleted now; null: it may. */
  async function reasonToWait(now: number, before: number): Promise<string | null> {
    const running = elapsed() - start.elapsed;
    if (Math.abs(now - start.now - running) > hour)
      return 'the clock of this machine has been set since the start: restart Postern once it is right';
    const newest = await newestAtStart.catch(() => {
      newestAtStart = edge(ports, 'desc');
      return newestAtStart;
    });
    if (newest !== null && start.now - newest > largestGap && running < waitAfterGap)
      return `the newest entry was of ${dateOf(newest)} when Postern started: is the clock right? Nothing is deleted for a day`;
    const next = await entryAfter(ports, before);
    if (next !== null && next - before > largestGap && now - next < waitAfterGap)
      return `the next entry is of ${dateOf(next)}: was the clock right before? Nothing is deleted for a day`;
    return null;
  }

  return {
    async run() {
      const now = ports.clock.now();
      const end = firstOf(now) - ports.limits.auditDays * day;
      const oldest = await edge(ports, 'asc');
      if (oldest === null || oldest >= end) return;
      // However often Postern is restarted under a wrong clock, an operator has days to notice.
      if (deletedAt !== null && elapsed() - deletedAt < hour) return;
      const before = Math.min(end, firstOf(oldest) + day);
      const reason = await reasonToWait(now, before);
      if (reason !== null) return log(`audit entries of ${dateOf(oldest)} and later would be deleted, but ${reason}`);
      log(`audit entries before ${dateOf(before)} are deleted: POSTERN_AUDIT_DAYS is ${ports.limits.auditDays}`);
      const deleted = await deleteBefore(ports, before);
      deletedAt = elapsed();
      log(`${deleted} audit entries were deleted`);
    },
  };
}
