import { type RawBuilder, sql } from 'kysely';
import { setAndEvict } from '#core/bounded-map.ts';
import { messages, Refusal } from '#core/messages.ts';
import { refusalDetails } from '#features/audit/refusal-details.ts';
import type { VisitAudit } from '#features/audit/visit-audit.ts';
import { visitorTurn } from '#features/turns/visitor-turns.ts';
import type { CompletedSignIn, ProfileRef, Renewal } from '#ports/sign-in.ts';
import type { Store, Tx } from '#ports/store.ts';
import { signedInVisitor } from './visitor-identity.ts';

const leaseTime = 10_000; // ms: twice as long as a provider may take
const pauseAfterFailure = 3000; // ms
const pollInterval = 100; // ms
const maxPolls = 50;
const maxUnstored = 10_000;

export interface DueSession {
  readonly tid: number;
  readonly hash: string;
  readonly signIn: CompletedSignIn;
}

/** The columns of a sign-in that its renewal changes. */
export interface StoredSignIn {
  readonly identity: string | null;
  readonly renewal: string | null;
}

export interface RenewalRequest {
  readonly profile: ProfileRef;
  readonly session: DueSession;
  readonly renewal: Renewal;
  /** Returns the columns of a sign-in. */
  readonly storedSignInOf: (signIn: CompletedSignIn) => StoredSignIn;
  /** Address of the visitor. */
  readonly address: string;
}

type SessionValues = Partial<StoredSignIn> & { readonly renewing_until?: RawBuilder<number> | null };

const renewalGrace = 60_000; // ms

/**
 * Lets a running transfer continue for a minute after the renewal of its sign-in became due.
 * @param overdueTime ms since the renewal became due
 * @throws Refusal (503) after that minute
 */
export function checkRenewalGrace(overdueTime: number): void {
  if (overdueTime >= renewalGrace) throw new Refusal('providerAway');
}

/** Returns whether a renewal was refused, by the provider or because the profile has changed, so that the sign-in ends. */
export const endsSession = (cause: unknown): cause is Refusal => cause instanceof Refusal && messages[cause.messageName].status < 500;

/** The stored session of one renewal. Its updates have no effect if the session was renewed or ended meanwhile. */
class LeasedSession {
  readonly #store: Store;
  readonly #session: DueSession;
  readonly #turn: ReturnType<typeof visitorTurn>;
  #renewal: string;

  constructor(store: Store, session: DueSession, address: string) {
    this.#store = store;
    this.#session = session;
    this.#turn = visitorTurn(address);
    this.#renewal = session.signIn.renewal ?? '';
  }

  /**
   * Takes the lease, so that only one process sends the request: a provider may accept a refresh token only once.
   * @returns false if the lease is taken, or the session was renewed or ended meanwhile
   */
  take(): Promise<boolean> {
    const { now } = this.#store.dialect;
    // A lease that ends so late was taken while the clock was ahead.
    const isFree = sql<boolean>`(renewing_until is null or renewing_until < ${now} or renewing_until > ${now} + ${2 * leaseTime})`;
    return this.#update({ renewing_until: sql<number>`${now} + ${leaseTime}` }, isFree);
  }

  /**
   * Stores a new value of the column `renewal`; the lease does not change.
   * @throws Refusal (503) if the session was renewed or ended meanwhile
   */
  async storeRenewal(renewal: string): Promise<void> {
    if (!(await this.#update({ renewal }))) throw new Refusal('providerAway');
    this.#renewal = renewal;
  }

  /** Stores the renewed sign-in, and releases the lease. */
  complete = (signIn: StoredSignIn) => this.#update({ ...signIn, renewing_until: null });

  /** Releases the lease of a renewal that has failed. */
  release = () => this.#update({ renewing_until: null });

  /** Ends the session. @returns false if it was renewed or ended meanwhile */
  async end(): Promise<boolean> {
    const { tid, hash } = this.#session;
    const remove = (tx: Tx) =>
      tx.deleteFrom('visit_session').where('tid', '=', tid).where('hash', '=', hash).where('renewal', '=', this.#renewal).execute();
    const [result] = await this.#store.write(remove, this.#turn);
    return Number(result?.numDeletedRows) === 1;
  }

  async #update(values: SessionValues, condition = sql<boolean>`1 = 1`): Promise<boolean> {
    const { tid, hash } = this.#session;
    const update = (tx: Tx) => {
      const row = tx.updateTable('visit_session').set(values).where('tid', '=', tid).where('hash', '=', hash);
      return row.where('renewal', '=', this.#renewal).where(condition).execute();
    };
    const [result] = await this.#store.write(update, this.#turn);
    return Number(result?.numUpdatedRows) === 1;
  }
}

/** Waits until the lease of a session is released, or the session has ended. @throws Refusal (503) if it takes too long */
async function waitForRenewal(store: Store, { tid, hash }: DueSession): Promise<void> {
  for (let polls = 0; polls < maxPolls; polls += 1) {
    const row = await store.read
      .selectFrom('visit_session')
      .select('renewing_until')
      .where('tid', '=', tid)
      .where('hash', '=', hash)
      .executeTakeFirst();
    if (!row || row.renewing_until === null) return;
    await new Promise((resolve) => setTimeout(resolve, pollInterval));
  }
  throw new Refusal('providerAway');
}

/** Renews sessions. Requests of one session in this process share a renewal. */
export class SessionRenewals {
  readonly #store: Store;
  readonly #audit: Pick<VisitAudit, 'recordInBackground'>;
  /** Renewals by the hash of the session. A failed one stays for a few seconds, so that not every request queries the provider. */
  readonly #running = new Map<string, Promise<void>>();
  /** New values of the column `renewal` that could not be stored, by the hash of the session, with the values that they replace. */
  readonly #unstored = new Map<string, { readonly replaces: string | undefined; readonly value: string }>();

  constructor(store: Store, audit: Pick<VisitAudit, 'recordInBackground'>) {
    this.#store = store;
    this.#audit = audit;
  }

  /**
   * Renews a session: queries its provider again, and stores the new sign-in. Ends the session if the provider no longer admits the
   * visitor. One process sends the request; the others wait for the result.
   * @throws Refusal (503) if the provider is not available, or another process takes too long to renew. A later try is possible
   */
  renew(request: RenewalRequest): Promise<void> {
    const { hash } = request.session;
    const running = this.#running.get(hash);
    if (running) return running;
    const renewal = this.#renewOnce(request);
    this.#running.set(hash, renewal);
    const forget = () => this.#running.delete(hash);
    renewal.then(forget, () => setTimeout(forget, pauseAfterFailure).unref());
    return renewal;
  }

  async #renewOnce({ profile, session, renewal, storedSignInOf, address }: RenewalRequest): Promise<void> {
    const leasedSession = new LeasedSession(this.#store, session, address);
    if (!(await leasedSession.take())) return waitForRenewal(this.#store, session);
    try {
      const signIn = await this.#withUnstored(leasedSession, session);
      await leasedSession.complete(
        storedSignInOf(await renewal.renew(profile, signIn, (value) => this.#storeRenewal(leasedSession, session, value))),
      );
    } catch (cause) {
      if (endsSession(cause)) return this.#end(leasedSession, profile, session, address, cause);
      if (!this.#unstored.has(session.hash)) await leasedSession.release().catch(() => {}); // else the lease ends by itself
      throw cause;
    }
  }

  /** Stores a new value of the column `renewal`. If that fails, remembers the value: the provider may no longer accept the old one. */
  async #storeRenewal(leasedSession: LeasedSession, { hash, signIn }: DueSession, value: string): Promise<void> {
    setAndEvict(this.#unstored, hash, { replaces: signIn.renewal, value }, maxUnstored);
    await leasedSession.storeRenewal(value);
    this.#unstored.delete(hash);
  }

  /** Returns the sign-in. If a new value of the column `renewal` could not be stored before, stores it now and includes it. */
  async #withUnstored(leasedSession: LeasedSession, session: DueSession): Promise<CompletedSignIn> {
    const newRenewal = this.#unstored.get(session.hash);
    if (!newRenewal || newRenewal.replaces !== session.signIn.renewal) return session.signIn;
    await this.#storeRenewal(leasedSession, session, newRenewal.value);
    return { ...session.signIn, renewal: newRenewal.value };
  }

  async #end(
    leasedSession: LeasedSession,
    profile: ProfileRef,
    { tid, signIn }: DueSession,
    address: string,
    cause: Refusal,
  ): Promise<void> {
    if (!(await leasedSession.end())) return;
    this.#audit.recordInBackground({
      ...{ link: null, tid, visitor: signedInVisitor(profile, signIn), visitorRequest: { address, requestId: '' } },
      ...{ action: 'sign-out', outcome: 'done', path: '', after: refusalDetails(cause) },
    });
  }
}
