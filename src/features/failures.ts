import { sql } from 'kysely';
import { Refusal } from '#core/messages.ts';
import { networkOf } from '#core/policy/address-range.ts';
import { type FailureScope, type Failures, failuresCountFor, waitLeft } from '#core/policy/slow-down.ts';
import type { Tx } from '#ports/store.ts';

/** What failures are counted by. */
export interface FailureKey {
  readonly scope: FailureScope;
  readonly key: string;
}

/** The networks that an address stands for; `kind` keeps sign-ins and API keys apart. */
export function networkKeys(kind: 'signIn' | 'apiKey', address: string): FailureKey[] {
  return [
    { scope: 'network', key: `${kind} ${networkOf(address, 32, 64)}` },
    { scope: 'wide', key: `${kind} ${networkOf(address, 24, 48)}` },
  ];
}

/** A pair of user and network, in one profile. */
export const pairKey = (profileId: number, user: string, address: string): FailureKey => ({
  scope: 'pair',
  key: `pair ${profileId} ${user} ${networkOf(address, 32, 64)}`,
});

async function knownFailures(db: Tx, keys: readonly FailureKey[], now: number): Promise<Failures[]> {
  const rows = await db
    .selectFrom('failure')
    .select(['key', sql<number>`count(*)`.as('count'), sql<number>`max(at)`.as('last_at')])
    .where(
      'key',
      'in',
      keys.map(({ key }) => key),
    )
    .where('at', '>', now - failuresCountFor)
    .groupBy('key')
    .execute();
  return rows.flatMap((row) => {
    const found = keys.find(({ key }) => key === row.key);
    return found ? [{ scope: found.scope, count: row.count, lastAt: row.last_at }] : [];
  });
}

/** @throws 429 with Retry-After while an attempt is not to be looked at */
export async function checkWait(db: Tx, keys: readonly FailureKey[], now: number): Promise<void> {
  const left = waitLeft(await knownFailures(db, keys, now), now);
  if (left > 0) throw new Refusal('tooManyFailures', undefined, { retryAfter: Math.ceil(left / 1000) });
}

export async function noteFailure(tx: Tx, keys: readonly FailureKey[], now: number): Promise<void> {
  await tx
    .insertInto('failure')
    .values(keys.map(({ key }) => ({ key, at: now })))
    .execute();
}

/** A success clears its pair. */
export async function clearFailures(tx: Tx, { key }: FailureKey): Promise<void> {
  await tx.deleteFrom('failure').where('key', '=', key).execute();
}
