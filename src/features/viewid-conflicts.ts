import { sql } from 'kysely';
import { Refusal } from '#core/messages.ts';
import type { Store, Tx } from '#ports/store.ts';

const mostAnHour = 20; // a key that asks on would learn which addresses are in use
const hour = 3_600_000; // ms
const keyOf = (keyId: number) => `viewId ${keyId}`;

const namesViewId = (parameters: unknown) => typeof parameters === 'object' && parameters !== null && 'viewId' in parameters;

/** @throws 429 where the key has met too many taken viewIds within the hour */
export async function checkConflicts(db: Tx, keyId: number, parameters: unknown, now: number): Promise<void> {
  if (!namesViewId(parameters)) return;
  const { conflicts, first } = await db
    .selectFrom('failure')
    .select([sql<number>`count(*)`.as('conflicts'), sql<number | null>`min(at)`.as('first')])
    .where('key', '=', keyOf(keyId))
    .where('at', '>', now - hour)
    .executeTakeFirstOrThrow();
  if (conflicts < mostAnHour) return;
  throw new Refusal('tooManyConflicts', undefined, { retryAfter: Math.ceil(((first ?? now) + hour - now) / 1000) });
}

/** Counts a conflict, then throws on what was thrown. */
export async function noteConflict(store: Store, keyId: number, cause: unknown, now: number): Promise<never> {
  if (cause instanceof Refusal && cause.says === 'viewIdTaken')
    await store.write((tx) =>
      tx
        .insertInto('failure')
        .values({ key: keyOf(keyId), at: now })
        .execute(),
    );
  throw cause;
}
