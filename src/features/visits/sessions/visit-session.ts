import { isRecent } from '#core/is-recent.ts';
import { Refusal } from '#core/messages.ts';
import type { SignedInVisitor } from '#features/links/find-link.ts';
import { sha256 } from '#features/records/sha256.ts';
import { visitorTurn } from '#features/turns/visitor-turns.ts';
import type { Ports } from '#ports/ports.ts';
import type { CompletedSignIn, Identity, ProfileRef, SignInKinds, SingleUseSignIn } from '#ports/sign-in.ts';
import type { Store, Tx } from '#ports/store.ts';
import { findSignInKind } from './find-sign-in-kind.ts';
import { checkRenewalGrace, type SessionRenewals, type StoredSignIn } from './renew-session.ts';
import { checkSignIn, type SignInAtProfile } from './visitor-identity.ts';

/** Maximum duration of a session in ms. */
export const maxSessionDuration = 12 * 3_600_000;
/** Time in ms after which an unused session ends. */
export const maxIdleTime = 3_600_000;
/** Minimum time in ms between two updates of a session's last use. */
export const lastUseUpdateInterval = 60_000;
const tokenBits = 256;
const maxTenants = 4; // tenants in which the sessions of one browser are looked up

export interface VisitSession {
  readonly tid: number;
  readonly hash: string;
  readonly signedIn: SignedInVisitor;
  readonly usedAt: number;
}

/** Returns the tenant id in a token. The token is looked up only in that tenant. */
export const tenantOfToken = (token: string): number => Number(/^([1-9]\d{0,14})\./.exec(token)?.[1] ?? 0);

/** Returns whether a text has the form of a token: other cookies need no lookup. */
const isToken = (text: string) => /^[1-9]\d{0,14}\.[\w-]{43}$/.test(text);

const sessionOf = (db: Tx, token: string) =>
  db.selectFrom('visit_session').selectAll().where('tid', '=', tenantOfToken(token)).where('hash', '=', sha256(token)).executeTakeFirst();

/**
 * Returns the sessions of several tokens. Looks in at most `maxTenants` tenants: a query with a condition for each of many tenants takes
 * milliseconds to plan, and any client can cause it.
 */
export async function findSessions(db: Tx, tokens: readonly string[]) {
  const tokensByTenant = [...Map.groupBy(tokens.filter(isToken), tenantOfToken)].slice(0, maxTenants);
  if (tokensByTenant.length === 0) return [];
  const sessions = db.selectFrom('visit_session').select(['hash', 'profile_id', 'created_at']);
  return sessions
    .where(({ or, and, eb }) =>
      or(tokensByTenant.map(([tid, tenantTokens]) => and([eb('tid', '=', tid), eb('hash', 'in', tenantTokens.map(sha256))]))),
    )
    .execute();
}

type StoredIdentity = Identity & Pick<CompletedSignIn, 'claimsAt' | 'endsAt'>;

/** Returns the columns in which a session stores a sign-in, and which a renewal of the sign-in changes. */
function storedSignIn({ identity, claimsAt, endsAt, renewal }: CompletedSignIn): StoredSignIn {
  const storedIdentity: StoredIdentity = { ...identity, claimsAt, ...(endsAt === undefined ? {} : { endsAt }) };
  return { identity: JSON.stringify(storedIdentity), renewal: renewal ?? null };
}

interface StoredSession extends SignInAtProfile {
  readonly tid: number;
  readonly hash: string;
  readonly createdAt: number;
  readonly usedAt: number;
}

async function readSession(db: Tx, token: string): Promise<StoredSession | null> {
  const row = await sessionOf(db, token);
  // A session without an identity was written by an earlier version during the migration. Its visitor must sign in again.
  if (!row || row.identity === null) return null;
  const { claimsAt, endsAt, ...identity }: StoredIdentity = JSON.parse(row.identity);
  const user = row.user_id === null ? null : { id: row.user_id, epoch: row.user_epoch ?? 0 };
  const optional = { ...(endsAt === undefined ? {} : { endsAt }), ...(row.renewal === null ? {} : { renewal: row.renewal }) };
  return {
    tid: row.tid,
    hash: row.hash,
    profileId: row.profile_id,
    signIn: { identity, claimsAt, profileEpoch: row.profile_epoch, user, ...optional },
    createdAt: row.created_at,
    usedAt: row.used_at,
  };
}

export type SessionPorts = Pick<Ports, 'store' | 'clock'> & { readonly signInKinds: SignInKinds; readonly renewals: SessionRenewals };

/**
 * Returns the valid session of a token at a profile, or null. If a renewal is due, queries the provider again: a new
 * request waits for the response, but the check of a running transfer does not, so that a slow provider does not delay
 * the checks of other transfers.
 * @param address of the visitor
 * @throws Refusal (503) if the sign-in must be renewed and the provider is not available
 */
export async function findSession(
  { store, clock, signInKinds, renewals }: SessionPorts,
  profile: ProfileRef,
  token: string,
  { address, isTransferCheck }: { readonly address: string; readonly isTransferCheck: boolean },
): Promise<VisitSession | null> {
  const session = await store.cachedUntilChange(`session ${token}`, () => readSession(store.read, token));
  if (session?.tid !== profile.tid) return null;
  const { tid, hash, usedAt, createdAt } = session;
  const now = clock.now();
  if (!isRecent(createdAt, maxSessionDuration, now) || !isRecent(usedAt, maxIdleTime, now)) return null;
  const signedIn = await checkSignIn(signInKinds, profile, session);
  if (!signedIn) return null;
  const renewal = findSignInKind(signInKinds, profile)?.renewal;
  const overdueTime = renewal?.overdueTime(session.signIn) ?? Number.NEGATIVE_INFINITY;
  if (!renewal || overdueTime < 0) return { tid, hash, signedIn, usedAt };
  const pendingRenewal = renewals.renew({ profile, session, renewal, storedSignInOf: storedSignIn, address });
  if (!isTransferCheck) {
    await pendingRenewal;
    return findSession({ store, clock, signInKinds, renewals }, profile, token, { address, isTransferCheck });
  }
  pendingRenewal.catch(() => {}); // a later check sees the result
  checkRenewalGrace(overdueTime);
  return { tid, hash, signedIn, usedAt };
}

/** Records that a session was used, at most once a minute. The caller does not wait for the write. */
export function recordSessionUse(store: Store, { tid, hash, usedAt }: VisitSession, address: string, now: number): void {
  if (now - usedAt < lastUseUpdateInterval) return;
  const updateUsedAt = (tx: Tx) =>
    tx
      .updateTable('visit_session')
      .set({ used_at: now })
      .where('tid', '=', tid)
      .where('hash', '=', hash)
      .where('used_at', '<=', now - lastUseUpdateInterval) // not if another request or transfer has recorded a use meanwhile
      .execute();
  void store.write(updateUsedAt, visitorTurn(address)).catch(() => {}); // the next use tries again
}

/**
 * Creates a session for a completed sign-in.
 * @param address of the visitor
 * @returns its token, of which only the hash is stored
 * @throws Refusal (401) if the provider's statement was used before, for a session or a test
 */
export async function beginSession(
  { store, clock, random }: Pick<Ports, 'store' | 'clock' | 'random'>,
  profile: ProfileRef,
  signIn: CompletedSignIn | SingleUseSignIn,
  address: string,
): Promise<string> {
  const { identity, profileEpoch, user, providerSession } = signIn;
  const [token, now] = [`${profile.tid}.${random.token(tokenBits)}`, clock.now()];
  const values = {
    tid: profile.tid,
    hash: sha256(token),
    profile_id: profile.profile_id,
    profile_epoch: profileEpoch,
    user_id: user?.id ?? null,
    user_epoch: user?.epoch ?? null,
    name: identity.name,
    ...storedSignIn(signIn),
    provider_session: providerSession || null,
    provider_subject: providerSession === undefined ? null : identity.subject,
    created_at: now,
    used_at: now,
  };
  await store.write(async (tx) => {
    if ('markStatementUsed' in signIn && !(await signIn.markStatementUsed(tx)))
      throw new Refusal('providerRefused', undefined, { forOperator: 'The response of the provider was used before.' });
    await tx.insertInto('visit_session').values(values).execute();
  }, visitorTurn(address));
  return token;
}

/** Ends a session. @param address of the visitor @returns false for an unknown token */
export async function endSession(store: Store, token: string, address: string): Promise<boolean> {
  if (!(await sessionOf(store.read, token))) return false;
  await store.write(
    (tx) => tx.deleteFrom('visit_session').where('tid', '=', tenantOfToken(token)).where('hash', '=', sha256(token)).execute(),
    visitorTurn(address),
  );
  return true;
}

/** Returns the tokens to delete so that only the `maxTokens` newest stay. A token whose session is not found counts as the oldest. */
export async function surplusTokens(db: Tx, tokens: readonly string[], maxTokens: number): Promise<string[]> {
  if (tokens.length <= maxTokens) return [];
  const createdAtByHash = new Map((await findSessions(db, tokens)).map((row) => [row.hash, row.created_at]));
  const newestFirst = tokens.map((token) => ({ token, createdAt: createdAtByHash.get(sha256(token)) ?? 0 }));
  newestFirst.sort((a, b) => b.createdAt - a.createdAt);
  return newestFirst.slice(maxTokens).map(({ token }) => token);
}
