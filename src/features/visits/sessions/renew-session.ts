import { sql } from 'kysely';
import { Refusal } from '#core/messages.ts';
import { visitorTurn } from '#features/turns/visitor-turns.ts';
import type { Ports } from '#ports/ports.ts';
import type { CompletedSignIn, ProfileRef, Renewal } from '#ports/sign-in.ts';
import type { Store } from '#ports/store.ts';

const leaseTime = 10_000; // ms: longer than a provider may take
const pollInterval = 100; // ms
const maxPolls = 50;

/** A session whose provider must be asked again. */
export interface DueSession {
  readonly tid: number;
  readonly hash: string;
  readonly signIn: CompletedSignIn;
}

/** A stored session, as far as it concerns its renewal. */
export interface StoredRenewal {
  readonly identity: string | null;
  readonly renewal: string | null;
}

/** Takes the lease of a renewal, so that one process asks: providers may accept a refresh token once. @returns false if another one asks */
async function takeLease({ store }: Pick<Ports, 'store'>, session: DueSession): Promise<boolean> {
  const { now } = store.dialect;
  const [result] = await store.write(
    (tx) =>
      tx
        .updateTable('visit_session')
        .set({ renewing_until: sql<number>`${now} + ${leaseTime}` })
        .where('tid', '=', session.tid)
        .where('hash', '=', session.hash)
        .where('renewal', '=', session.signIn.renewal ?? '')
        .where(sql<boolean>`(renewing_until is null or renewing_until < ${now} or renewing_until > ${now} + ${2 * leaseTime})`)
        .execute(),
    'job',
  );
  return Number(result?.numUpdatedRows) === 1;
}

/** Stores a renewed sign-in, or deletes the session. */
async function storeRenewal(store: Store, session: DueSession, renewed: StoredRenewal | null, address: string): Promise<void> {
  await store.write(async (tx) => {
    const { tid, hash } = session;
    if (!renewed) return void (await tx.deleteFrom('visit_session').where('tid', '=', tid).where('hash', '=', hash).execute());
    const values = { ...renewed, renewing_until: null };
    await tx.updateTable('visit_session').set(values).where('tid', '=', tid).where('hash', '=', hash).execute();
  }, visitorTurn(address));
}

/** Releases the lease of a renewal that has failed: the next request tries again. */
const releaseLease = (store: Store, { tid, hash }: DueSession) =>
  store.write(
    (tx) => tx.updateTable('visit_session').set({ renewing_until: null }).where('tid', '=', tid).where('hash', '=', hash).execute(),
    'job',
  );

/** Waits until another process has renewed a session. @throws Refusal (503) if it takes too long */
async function waitForRenewal(store: Store, { tid, hash, signIn }: DueSession): Promise<void> {
  for (let polls = 0; polls < maxPolls; polls += 1) {
    const row = await store.read
      .selectFrom('visit_session')
      .select(['renewal', 'renewing_until'])
      .where('tid', '=', tid)
      .where('hash', '=', hash)
      .executeTakeFirst();
    if (row?.renewal !== signIn.renewal || row?.renewing_until === null) return;
    await new Promise((resolve) => setTimeout(resolve, pollInterval));
  }
  throw new Refusal('providerAway');
}

/**
 * Asks the provider of a session again, and stores what it states. Only one process asks; the others wait for the result.
 * @param toStored returns the columns of a sign-in
 * @throws Refusal (503) if the provider is not available. The session stays, and the next request asks again
 */
export async function renewSession(
  { store }: Pick<Ports, 'store'>,
  profile: ProfileRef,
  session: DueSession,
  { renew }: Renewal,
  toStored: (signIn: CompletedSignIn) => StoredRenewal,
  address: string,
): Promise<void> {
  if (!(await takeLease({ store }, session))) return waitForRenewal(store, session);
  try {
    const renewed = await renew(profile, session.signIn);
    await storeRenewal(store, session, renewed && toStored(renewed), address);
  } catch (cause) {
    await releaseLease(store, session).catch(() => {}); // the lease ends by itself
    throw cause;
  }
}
