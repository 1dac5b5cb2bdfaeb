import type { SignedInVisitor } from '#features/links/find-link.ts';
import { sha256 } from '#features/records/sha256.ts';
import { visitorTurn } from '#features/turns/visitor-turns.ts';
import type { Ports } from '#ports/ports.ts';
import type { Store, Tx } from '#ports/store.ts';
import { type ProfileRef, profileIdentity, userIdentity } from './visitor-identity.ts';

/** How long a session lasts at most, and unused (visit.md, Sessions); ms. */
export const longestSession = 12 * 3_600_000;
export const longestIdle = 3_600_000;
export const useRecordedEvery = 60_000; // ms
const tokenBits = 256;

export interface VisitSession {
  readonly tid: number;
  readonly hash: string;
  readonly signedIn: SignedInVisitor;
  readonly usedAt: number;
}

/** The tenant that a token says it is of: it finds nothing of another's. */
export const tenantOfToken = (token: string): number => Number(/^([1-9]\d{0,14})\./.exec(token)?.[1] ?? 0);

const sessionOf = (db: Tx, token: string) =>
  db.selectFrom('visit_session').selectAll().where('tid', '=', tenantOfToken(token)).where('hash', '=', sha256(token)).executeTakeFirst();

/** The sessions of several tokens. Each is looked up in the tenant that its token names, and in no other. */
export async function sessionsOf(db: Tx, tokens: readonly string[]) {
  if (tokens.length === 0) return [];
  const sessions = db.selectFrom('visit_session').select(['hash', 'profile_id', 'created_at']);
  return sessions.where(({ or, and }) => or(tokens.map((token) => and({ tid: tenantOfToken(token), hash: sha256(token) })))).execute();
}

/** The living session of a token at a profile, or null. */
export async function findSession(store: Store, profile: ProfileRef, token: string, now: number): Promise<VisitSession | null> {
  const row = await store.cachedUntilChange(`session ${token}`, () => sessionOf(store.read, token));
  if (!row || row.tid !== profile.tid || row.profile_id !== profile.profile_id || row.profile_epoch !== profile.session_epoch) return null;
  if (row.created_at <= now - longestSession || row.used_at <= now - longestIdle) return null;
  const { user_id: userId, user_epoch: epoch } = row;
  const user = () => userIdentity(store.read, profile, userId ?? 0, epoch ?? 0);
  const signedIn =
    userId === null ? profileIdentity(profile) : await store.cachedUntilChange(`user ${profile.profile_id} ${userId} ${epoch}`, user);
  return signedIn && { tid: row.tid, hash: row.hash, signedIn, usedAt: row.used_at };
}

/** Notes that a session was used, at most once a minute and without anybody waiting for it. */
export function recordSessionUse(store: Store, { tid, hash, usedAt }: VisitSession, address: string, now: number): void {
  if (now - usedAt < useRecordedEvery) return;
  const note = (tx: Tx) =>
    tx
      .updateTable('visit_session')
      .set({ used_at: now })
      .where('tid', '=', tid)
      .where('hash', '=', hash)
      .where('used_at', '<=', now - useRecordedEvery) // else another transfer has noted it
      .execute();
  void store.write(note, visitorTurn(address)).catch(() => {}); // the next use notes it
}

/** Who signed in, in which state of the user, and from where. */
interface SessionStart {
  readonly signedIn: SignedInVisitor;
  readonly userEpoch: number | null;
  readonly address: string;
}

/** Begins a session. @returns its token, which only the visitor keeps */
export async function beginSession(
  { store, clock, random }: Pick<Ports, 'store' | 'clock' | 'random'>,
  profile: ProfileRef,
  { signedIn, userEpoch, address }: SessionStart,
): Promise<string> {
  const [token, now] = [`${profile.tid}.${random.token(tokenBits)}`, clock.now()];
  const values = {
    tid: profile.tid,
    hash: sha256(token),
    profile_id: profile.profile_id,
    profile_epoch: profile.session_epoch,
    user_id: signedIn.userId,
    user_epoch: userEpoch,
    name: signedIn.name,
    created_at: now,
    used_at: now,
  };
  await store.write((tx) => tx.insertInto('visit_session').values(values).execute(), visitorTurn(address));
  return token;
}

/** Ends a session. An invented token changes nothing. @param address where the visitor is */
export async function endSession(store: Store, token: string, address: string): Promise<void> {
  if (!(await sessionOf(store.read, token))) return;
  await store.write(
    (tx) => tx.deleteFrom('visit_session').where('tid', '=', tenantOfToken(token)).where('hash', '=', sha256(token)).execute(),
    visitorTurn(address),
  );
}

/** Which of the tokens to forget so that the newest `most` are kept: the oldest, and those that have ended. */
export async function surplusTokens(db: Tx, tokens: readonly string[], most: number): Promise<string[]> {
  if (tokens.length <= most) return [];
  const madeAt = new Map((await sessionsOf(db, tokens)).map((row) => [row.hash, row.created_at]));
  const ages = tokens.map((token) => ({ token, madeAt: madeAt.get(sha256(token)) ?? 0 }));
  ages.sort((a, b) => b.madeAt - a.madeAt);
  return ages.slice(most).map(({ token }) => token);
}
