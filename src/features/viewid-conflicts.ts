import { sql } from 'kysely';
import { Refusal } from '#core/messages.ts';
import type { Store, Tx } from '#ports/store.ts';
import type { Caller } from './operation.ts';

const mostAnHour = 20; // a key that asks on would learn which addresses are in use
const hour = 3_600_000; // ms
const keyOf = ({ kind, id }: Caller) => (kind === 'key' ? `viewId ${id}` : `viewId ${kind} ${id}`);

const namesViewId = (parameters: unknown) => typeof parameters === 'object' && parameters !== null && 'viewId' in parameters;

/** @throws 429 where the caller has met too many taken viewIds within the hour */
export async function checkConflicts(db: Tx, caller: Caller, parameters: unknown, now: number): Promise<void> {
  if (!namesViewId(parameters)) return;
  const { conflicts, first } = await db
    .selectFrom('failure')
    .select([sql<number>`count(*)`.as('conflicts'), sql<number | null>`min(at)`.as('first')])
    .where('key', '=', keyOf(caller))
    .where('at', '>', now - hour)
    .executeTakeFirstOrThrow();
  if (conflicts < mostAnHour) return;
  throw new Refusal('tooManyConflicts', undefined, { retryAfter: Math.ceil(((first ?? now) + hour - now) / 1000) });
}

/** Counts a conflict, then throws on what was thrown. */
export async function noteConflict(store: Store, caller: Caller, cause: unknown, now: number): Promise<never> {
  if (cause instanceof Refusal && cause.says === 'viewIdTaken')
    await store.write((tx) =>
      tx
        .insertInto('failure')
        .values({ key: keyOf(caller), at: now })
        .execute(),
    );
  throw cause;
}
