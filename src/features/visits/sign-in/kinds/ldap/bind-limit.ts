import { sql } from 'kysely';
import { failureLifetime } from '#core/authorization/sign-in-delay.ts';
import { narrowNetworkOf } from '#core/client-networks.ts';
import { Refusal } from '#core/messages.ts';
import { removeLatestFailures } from '#features/rate-limits/failed-attempts.ts';
import { visitorTurn } from '#features/turns/visitor-turns.ts';
import type { Ports } from '#ports/ports.ts';
import type { ProfileRef } from '#ports/sign-in.ts';
import type { Tx } from '#ports/store.ts';

const maxFailures = 3; // in fifteen minutes: directories lock an account after five to ten wrong passwords

/** An attempt to sign in at a directory with a password. */
export interface Bind {
  readonly profile: ProfileRef;
  /** Subject of the user; the name if the subject is not known before the password is sent. */
  readonly subject: string;
  /** The name under which wrong passwords are counted, if other users may have the same name. */
  readonly sharedName?: string;
  /** Address of the client. */
  readonly address: string;
}

const keyOf = ({ profile, subject, sharedName = subject }: Bind) => `bind ${profile.profile_id} ${sharedName}`;

/** Removes what `countBind` has stored: the password was right, or the directory has not said whether it is right. */
const removeCount = (tx: Tx, bind: Bind) => removeLatestFailures(tx, [{ key: keyOf(bind) }]);

async function isKnownNetwork({ store }: Pick<Ports, 'store'>, { profile, subject, address }: Bind): Promise<boolean> {
  const row = await store.read
    .selectFrom('known_network')
    .select('seen_at')
    .where('tid', '=', profile.tid)
    .where('profile_id', '=', profile.profile_id)
    .where('subject', '=', subject)
    .where('network', '=', narrowNetworkOf(address))
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Counts a password before it is sent to the directory: otherwise a hundred concurrent attempts could all pass the limit.
 * @throws Refusal (429) beyond the limit
 */
async function countBind({ store, clock }: Pick<Ports, 'store' | 'clock'>, bind: Bind): Promise<void> {
  await store.write(async (tx) => {
    const now = clock.now();
    const { count, first } = await tx
      .selectFrom('failure')
      .select([sql<number>`count(*)`.as('count'), sql<number>`min(at)`.as('first')])
      .where('key', '=', keyOf(bind))
      .where('at', '>', now - failureLifetime)
      .where('at', '<', now + failureLifetime) // a failure with a later time was stored while the clock was wrong
      .executeTakeFirstOrThrow();
    const wait = Math.ceil((first + failureLifetime - now) / 1000);
    if (count >= maxFailures) throw new Refusal('tooManyFailures', undefined, { retryAfter: wait });
    await tx
      .insertInto('failure')
      .values({ key: keyOf(bind), at: now })
      .execute();
  }, visitorTurn(bind.address));
}

async function recordSuccess({ store, clock }: Pick<Ports, 'store' | 'clock'>, bind: Bind, wasCounted: boolean): Promise<void> {
  const { profile, subject, address } = bind;
  const seen_at = clock.now();
  const values = { tid: profile.tid, profile_id: profile.profile_id, subject, network: narrowNetworkOf(address), seen_at };
  await store.write(async (tx) => {
    // Other users may have the same name: the success of one user must not clear the wrong passwords of another.
    if (bind.sharedName !== undefined && wasCounted) await removeCount(tx, bind);
    if (bind.sharedName === undefined) await tx.deleteFrom('failure').where('key', '=', keyOf(bind)).execute();
    await tx
      .insertInto('known_network')
      .values(values)
      .onConflict((row) => row.columns(['tid', 'profile_id', 'subject', 'network']).doUpdateSet({ seen_at }))
      .execute();
  }, visitorTurn(address));
}

/**
 * Tries a password at a directory. In fifteen minutes, at most three wrong passwords for a user or `sharedName` reach the directory from
 * networks where the user has not signed in within the last 180 days: strangers must not lock the account in the directory.
 * @param verify sends the password to the directory. If it throws, the attempt does not count
 * @throws Refusal (429) beyond the limit
 */
export async function withinBindLimit(ports: Pick<Ports, 'store' | 'clock'>, bind: Bind, verify: () => Promise<boolean>): Promise<boolean> {
  const isKnown = await isKnownNetwork(ports, bind);
  if (!isKnown) await countBind(ports, bind);
  const isRight = await verify().catch(async (cause: unknown) => {
    // The directory has not said whether the password is right: it was not reached, did not respond, or failed afterwards.
    if (!isKnown) await ports.store.write((tx) => removeCount(tx, bind), visitorTurn(bind.address));
    throw cause;
  });
  if (isRight) await recordSuccess(ports, bind, !isKnown);
  return isRight;
}
