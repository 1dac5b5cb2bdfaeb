import { sql } from 'kysely';
import { Refusal } from '#core/messages.ts';
import { windowCounts } from '#core/window-counts.ts';
import type { Caller } from '#features/operation.ts';
import type { Clock } from '#ports/clock.ts';
import type { Store, Tx } from '#ports/store.ts';

// Each conflict reveals that a viewId exists. The tenant has a limit too, since it can create any number of keys.
const maxPerHour = { caller: 20, tenant: 200 };
const hour = 3_600_000; // ms
const limitsOf = ({ kind, id, tid }: Caller) => [
  { key: kind === 'key' ? `viewId ${id}` : `viewId ${kind} ${id}`, max: maxPerHour.caller },
  { key: `viewId tenant ${tid}`, max: maxPerHour.tenant },
];

const hasViewId = (parameters: unknown) => typeof parameters === 'object' && parameters !== null && 'viewId' in parameters;

/**
 * If the parameters contain a viewId, checks that the caller and its tenant have not caused too many viewId conflicts within the last hour.
 * @throws Refusal (429)
 */
export async function checkConflictLimit(db: Tx, caller: Caller, parameters: unknown, now: number): Promise<void> {
  if (!hasViewId(parameters)) return;
  const limits = limitsOf(caller);
  const rows = await db
    .selectFrom('failure')
    .select(['key', sql<number>`count(*)`.as('conflicts'), sql<number>`min(at)`.as('first')])
    .where(
      'key',
      'in',
      limits.map(({ key }) => key),
    )
    .where('at', '>', now - hour)
    .where('at', '<', now + hour) // a row with a later time was stored while the clock was wrong
    .groupBy('key')
    .execute();
  const exceededRow = rows.find(({ key, conflicts }) => limits.some((limit) => limit.key === key && conflicts >= limit.max));
  if (exceededRow) throw new Refusal('tooManyConflicts', undefined, { retryAfter: Math.ceil((exceededRow.first + hour - now) / 1000) });
}

const isConflict = (cause: unknown) => cause instanceof Refusal && cause.messageName === 'viewIdTaken';

/** Counts an error that is a viewId conflict, then throws the error again. */
export async function countConflict(store: Store, caller: Caller, cause: unknown, now: number): Promise<never> {
  if (isConflict(cause))
    await store.write(
      (tx) =>
        tx
          .insertInto('failure')
          .values(limitsOf(caller).map(({ key }) => ({ key, at: now })))
          .execute(),
      { tenant: caller.tid },
    );
  throw cause;
}

/** Runs a change that may cause a viewId conflict; its transaction is already open. @throws Refusal (429) after too many conflicts */
export type WithinConflictLimit = <T>(caller: Caller, parameters: unknown, work: () => Promise<T>) => Promise<T>;

/**
 * Returns a limit that counts the conflicts of this process in memory. The check of the database is not enough: concurrent
 * changes all pass it before the first conflict is stored.
 */
export function conflictLimit(clock: Clock): WithinConflictLimit {
  const counts = windowCounts(hour, clock.now);
  return async (caller, parameters, work) => {
    if (!hasViewId(parameters)) return work();
    const limits = limitsOf(caller);
    if (limits.some(({ key, max }) => counts.count(key) >= max))
      throw new Refusal('tooManyConflicts', undefined, { retryAfter: Math.ceil(counts.remainingTime() / 1000) });
    try {
      return await work();
    } catch (cause) {
      if (isConflict(cause)) for (const { key } of limits) counts.add(key);
      throw cause;
    }
  };
}
