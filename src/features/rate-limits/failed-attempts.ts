import { sql } from 'kysely';
import {
  clockTolerance,
  type FailureCount,
  type FailureScope,
  failureLifetime,
  remainingDelay,
} from '#core/authorization/sign-in-delay.ts';
import { narrowNetworkOf, wideNetworkOf } from '#core/client-networks.ts';
import { Refusal } from '#core/messages.ts';
import type { Ports } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';

/** A key that failures are counted by. */
export interface FailureKey {
  readonly scope: FailureScope;
  readonly key: string;
}

/** Returns the keys of an address's networks. `kind` separates the counts of visitors, API keys and operators. */
export function networkKeys(kind: 'signIn' | 'apiKey' | 'operator', address: string): FailureKey[] {
  return [
    { scope: 'network', key: `${kind} ${narrowNetworkOf(address)}` },
    { scope: 'wide', key: `${kind} ${wideNetworkOf(address)}` },
  ];
}

/** Returns the key of a user and a network. @param realm the login profile, or the tenant of an operator */
export const pairKey = (realm: string, user: string, address: string): FailureKey => ({
  scope: 'pair',
  key: `pair ${realm} ${user} ${narrowNetworkOf(address)}`,
});

/** Deletes the failures of a user from all networks. @param realm and user, as in `pairKey` */
export async function clearPairFailures(tx: Tx, realm: string, user: string): Promise<void> {
  const prefix = `pair ${realm} ${user} `;
  const isPair = sql<boolean>`substr(key, 1, length(${prefix})) = ${prefix}`; // not `like`: a name can contain % and _
  // The rest of the key must be a network, which contains no space. Otherwise the keys of "ann b" would count as keys of "ann".
  const isOfUser = sql<boolean>`substr(key, length(${prefix}) + 1) not like '% %'`;
  await tx.deleteFrom('failure').where(isPair).where(isOfUser).execute();
}

async function findFailures(db: Tx, keys: readonly FailureKey[], now: number): Promise<FailureCount[]> {
  const rows = await db
    .selectFrom('failure')
    .select(['key', sql<number>`count(*)`.as('count'), sql<number>`max(at)`.as('last_at')])
    .where(
      'key',
      'in',
      keys.map(({ key }) => key),
    )
    .where('at', '>', now - failureLifetime)
    .where('at', '<=', now + clockTolerance)
    .groupBy('key')
    .execute();
  return rows.flatMap((row) => {
    const match = keys.find(({ key }) => key === row.key);
    return match ? [{ scope: match.scope, count: row.count, lastAt: row.last_at }] : [];
  });
}

/** Checks that no delay after failed attempts is running. @throws Refusal (429) with Retry-After during the delay */
export async function checkDelay(db: Tx, keys: readonly FailureKey[], now: number): Promise<void> {
  const delay = remainingDelay(await findFailures(db, keys, now), now);
  if (delay > 0) throw new Refusal('tooManyFailures', undefined, { retryAfter: Math.ceil(delay / 1000) });
}

/** Returns the write turn of an attempt: wide networks take turns. Attempts without a network share one turn. */
export const attemptTurn = (keys: readonly FailureKey[]) => ({ network: keys.find(({ scope }) => scope === 'wide')?.key ?? '' });

/** Counts an attempt as a failure. @throws Refusal (429) with Retry-After during the delay */
export async function countAttempt({ store, clock }: Pick<Ports, 'store' | 'clock'>, keys: readonly FailureKey[]): Promise<void> {
  await store.write(async (tx) => {
    const now = clock.now();
    await checkDelay(tx, keys, now);
    await tx
      .insertInto('failure')
      .values(keys.map(({ key }) => ({ key, at: now })))
      .execute();
  }, attemptTurn(keys));
}

/** Removes the latest failure of each key, after an attempt that succeeded or must not count. */
export async function removeLatestFailures(tx: Tx, keys: readonly Pick<FailureKey, 'key'>[]): Promise<void> {
  for (const { key } of keys) {
    const latest = await tx.selectFrom('failure').select('id').where('key', '=', key).orderBy('id', 'desc').limit(1).executeTakeFirst();
    if (latest) await tx.deleteFrom('failure').where('id', '=', latest.id).execute();
  }
}

/**
 * Verifies one sign-in attempt and counts it. A failure counts for the pair of user and network, and for the networks; a success
 * clears the failures of the pair. The failure is counted before the password is checked and removed after a success: otherwise a hundred
 * concurrent attempts could pass before the first failure is counted.
 * @param pair null: the attempt counts for its networks alone
 * @param verify returns null if the name or the password is wrong, or a Refusal with another reason, which also counts as a failure
 * @returns the result of `verify`
 * @throws Refusal (401) for null; the Refusal that `verify` returns; Refusal (429) during the delay; what `verify` throws. If it throws a
 *   Refusal, the attempt does not count
 */
export async function verifyAttempt<Result>(
  { store, clock }: Pick<Ports, 'store' | 'clock'>,
  pair: FailureKey | null,
  networks: readonly FailureKey[],
  verify: () => Promise<Result | Refusal | null>,
): Promise<Result> {
  const keys = pair ? [pair, ...networks] : networks;
  await countAttempt({ store, clock }, keys);
  const result = await verify().catch(async (cause: unknown) => {
    if (cause instanceof Refusal) await store.write((tx) => removeLatestFailures(tx, keys), attemptTurn(keys));
    throw cause;
  });
  if (result === null) throw new Refusal('signInWrong');
  if (result instanceof Refusal) throw result;
  await store.write(async (tx) => {
    if (pair) await tx.deleteFrom('failure').where('key', '=', pair.key).execute();
    await removeLatestFailures(tx, networks);
  }, attemptTurn(keys));
  return result;
}
