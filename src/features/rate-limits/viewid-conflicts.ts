import { sql } from 'kysely';
import { Refusal } from '#core/messages.ts';
import { windowCounts } from '#core/window-counts.ts';
import type { Caller } from '#features/operation.ts';
import type { Clock } from '#ports/clock.ts';
import type { Store, Tx } from '#ports/store.ts';

// Who asks on would learn which addresses are in use; a tenant may make keys as it likes.
const mostAnHour = { caller: 20, tenant: 200 };
const hour = 3_600_000; // ms
const limitsOf = ({ kind, id, tid }: Caller) => [
  { key: kind === 'key' ? `viewId ${id}` : `viewId ${kind} ${id}`, most: mostAnHour.caller },
  { key: `viewId tenant ${tid}`, most: mostAnHour.tenant },
];

const namesViewId = (parameters: unknown) => typeof parameters === 'object' && parameters !== null && 'viewId' in parameters;

/** @throws 429 where the caller, or its tenant, has met too many taken viewIds within the hour */
export async function checkConflictLimit(db: Tx, caller: Caller, parameters: unknown, now: number): Promise<void> {
  if (!namesViewId(parameters)) return;
  const limits = limitsOf(caller);
  const met = await db
    .selectFrom('failure')
    .select(['key', sql<number>`count(*)`.as('conflicts'), sql<number>`min(at)`.as('first')])
    .where(
      'key',
      'in',
      limits.map(({ key }) => key),
    )
    .where('at', '>', now - hour)
    .groupBy('key')
    .execute();
  const reached = met.find(({ key, conflicts }) => limits.some((limit) => limit.key === key && conflicts >= limit.most));
  if (reached) throw new Refusal('tooManyConflicts', undefined, { retryAfter: Math.ceil((reached.first + hour - now) / 1000) });
}

const isConflict = (cause: unknown) => cause instanceof Refusal && cause.messageName === 'viewIdTaken';

/** Counts a conflict, then throws on what was thrown. */
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

/** Runs the transaction of a change, which may meet a taken viewId. */
export type WithinConflictLimit = <T>(caller: Caller, parameters: unknown, work: () => Promise<T>) => Promise<T>;

/**
 * Counts the conflicts of this process as they are met: changes that were sent together have all passed the check before
 * the first of them is noted.
 */
export function conflictLimit(clock: Clock): WithinConflictLimit {
  const counts = windowCounts(hour, clock.now);
  return async (caller, parameters, work) => {
    if (!namesViewId(parameters)) return work();
    const limits = limitsOf(caller);
    if (limits.some(({ key, most }) => counts.count(key) >= most))
      throw new Refusal('tooManyConflicts', undefined, { retryAfter: Math.ceil(counts.left() / 1000) });
    try {
      return await work();
    } catch (cause) {
      if (isConflict(cause)) for (const { key } of limits) counts.add(key);
      throw cause;
    }
  };
}
