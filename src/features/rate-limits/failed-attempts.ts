import { sql } from 'kysely';
import { Refusal } from '#core/messages.ts';
import { networkOf } from '#core/policy/address-range.ts';
import { clockTolerance, type FailureCount, type FailureScope, failuresCountFor, remainingDelay } from '#core/policy/sign-in-delay.ts';
import type { Ports } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';

/** What failures are counted by. */
export interface FailureKey {
  readonly scope: FailureScope;
  readonly key: string;
}

/** The networks that an address stands for; `kind` keeps visitors, API keys and operators apart. */
export function networkKeys(kind: 'signIn' | 'apiKey' | 'operator', address: string): FailureKey[] {
  return [
    { scope: 'network', key: `${kind} ${networkOf(address, 32, 64)}` },
    { scope: 'wide', key: `${kind} ${networkOf(address, 24, 48)}` },
  ];
}

/** A pair of user and network; `where` names the login profile, or the tenant whose operators sign in. */
export const pairKey = (where: string, user: string, address: string): FailureKey => ({
  scope: 'pair',
  key: `pair ${where} ${user} ${networkOf(address, 32, 64)}`,
});

async function findFailures(db: Tx, keys: readonly FailureKey[], now: number): Promise<FailureCount[]> {
  const rows = await db
    .selectFrom('failure')
    .select(['key', sql<number>`count(*)`.as('count'), sql<number>`max(at)`.as('last_at')])
    .where(
      'key',
      'in',
      keys.map(({ key }) => key),
    )
    .where('at', '>', now - failuresCountFor)
    .where('at', '<=', now + clockTolerance)
    .groupBy('key')
    .execute();
  return rows.flatMap((row) => {
    const found = keys.find(({ key }) => key === row.key);
    return found ? [{ scope: found.scope, count: row.count, lastAt: row.last_at }] : [];
  });
}

/** @throws 429 with Retry-After while an attempt is not to be looked at */
export async function checkWait(db: Tx, keys: readonly FailureKey[], now: number): Promise<void> {
  const left = remainingDelay(await findFailures(db, keys, now), now);
  if (left > 0) throw new Refusal('tooManyFailures', undefined, { retryAfter: Math.ceil(left / 1000) });
}

/** The network whose attempts take turns with those of others. */
export const attemptTurn = (keys: readonly FailureKey[]) => ({ network: keys.find(({ scope }) => scope === 'wide')?.key ?? '' });

/** Counts an attempt as a failure. @throws 429 with Retry-After within the wait */
export async function countAttempt({ store, clock }: Pick<Ports, 'store' | 'clock'>, keys: readonly FailureKey[]): Promise<void> {
  await store.write(async (tx) => {
    const now = clock.now();
    await checkWait(tx, keys, now);
    await tx
      .insertInto('failure')
      .values(keys.map(({ key }) => ({ key, at: now })))
      .execute();
  }, attemptTurn(keys));
}

/** Takes one failure of each key back: its attempt was right, or was not looked at. */
async function takeBack(tx: Tx, keys: readonly FailureKey[]): Promise<void> {
  for (const { key } of keys) {
    const latest = await tx.selectFrom('failure').select('id').where('key', '=', key).orderBy('id', 'desc').limit(1).executeTakeFirst();
    if (latest) await tx.deleteFrom('failure').where('id', '=', latest.id).execute();
  }
}

/**
 * Looks at one attempt to sign in, and counts it: a failure for its pair and its networks; a success clears its pair.
 * The failure is counted before the password is looked at, and taken back if it was right: a hundred attempts at once
 * are a hundred attempts.
 * @param verify null: the name or the password is wrong
 * @throws 401; 429 within the wait; what `verify` throws, which is then no attempt
 */
export async function verifyCounted<Right>(
  { store, clock }: Pick<Ports, 'store' | 'clock'>,
  pair: FailureKey,
  networks: readonly FailureKey[],
  verify: () => Promise<Right | null>,
): Promise<Right> {
  const keys = [pair, ...networks];
  await countAttempt({ store, clock }, keys);
  const right = await verify().catch(async (cause: unknown) => {
    if (cause instanceof Refusal) await store.write((tx) => takeBack(tx, keys), attemptTurn(keys));
    throw cause;
  });
  if (right === null) throw new Refusal('signInWrong');
  await store.write(async (tx) => {
    await tx.deleteFrom('failure').where('key', '=', pair.key).execute();
    await takeBack(tx, networks);
  }, attemptTurn(keys));
  return right;
}
