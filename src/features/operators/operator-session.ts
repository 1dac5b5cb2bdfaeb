import { parseKeyRole, type Role } from '#core/policy/role.ts';
import { appendChangeEntry } from '#features/audit/audit-entry.ts';
import { sha256 } from '#features/records/sha256.ts';
import type { Ports } from '#ports/ports.ts';
import type { Store, Tx } from '#ports/store.ts';

/** How long a session of the console lasts at most, and unused: as at a link (visit.md, Sessions); ms. */
export const longestOperatorSession = 12 * 3_600_000;
const longestIdle = 3_600_000;
const useNotedEvery = 60_000;
export const sessionBits = 256;

/** Where a request comes from. */
export interface Origin {
  readonly address: string;
  readonly requestId: string;
}

/** An operator who is signed in. */
export interface SignedInOperator {
  readonly id: number;
  readonly tid: number;
  readonly name: string;
  readonly role: Role;
}

interface FoundSession extends SignedInOperator {
  readonly hash: string;
  readonly usedAt: number;
}

const sessionOf = (db: Tx, hash: string) =>
  db
    .selectFrom('operator_session')
    .innerJoin('operator', 'operator.id', 'operator_session.operator_id')
    .select(['operator.id', 'operator.tid', 'operator.name', 'operator.role', 'operator.session_epoch'])
    .select(['operator_session.operator_epoch', 'operator_session.created_at', 'operator_session.used_at'])
    .where('operator_session.hash', '=', hash)
    .executeTakeFirst();

type SessionRow = NonNullable<Awaited<ReturnType<typeof sessionOf>>>;

const lives = (row: SessionRow, now: number) =>
  row.operator_epoch === row.session_epoch && row.created_at > now - longestOperatorSession && row.used_at > now - longestIdle;

/** The role of the operator of a living session; null: it has ended. */
export async function roleOfSession(db: Tx, hash: string, now: number): Promise<Role | null> {
  const row = await sessionOf(db, hash);
  return row && lives(row, now) ? parseKeyRole(row.role) : null;
}

/** The living session of a token, or null. */
export async function findOperatorSession(store: Store, token: string, now: number): Promise<FoundSession | null> {
  const hash = sha256(token);
  const row = await store.cachedUntilChange(`operator ${hash}`, () => sessionOf(store.read, hash));
  if (!row || !lives(row, now)) return null;
  return { id: row.id, tid: row.tid, name: row.name, role: parseKeyRole(row.role), hash, usedAt: row.used_at };
}

/** Notes that a session was used, at most once a minute and without anybody waiting for it. */
export function recordOperatorUse(store: Store, { tid, hash, usedAt }: FoundSession, now: number): void {
  if (now - usedAt < useNotedEvery) return;
  const note = (tx: Tx) => tx.updateTable('operator_session').set({ used_at: now }).where('hash', '=', hash).execute();
  void store.write(note, { tenant: tid }).catch(() => {}); // the next use notes it
}

/** Begins a session of an operator at a certain state of their password. */
export async function beginOperatorSession(tx: Tx, token: string, operator: { id: number; epoch: number }, now: number): Promise<void> {
  const values = { hash: sha256(token), operator_id: operator.id, operator_epoch: operator.epoch, created_at: now, used_at: now };
  await tx.insertInto('operator_session').values(values).execute();
  await tx.updateTable('operator').set({ last_sign_in_at: now }).where('id', '=', operator.id).execute();
}

/** Ends the session of a token, if it is one, and tells so in the trail. */
export async function endOperatorSession({ store, clock }: Pick<Ports, 'store' | 'clock'>, token: string, origin: Origin): Promise<void> {
  const hash = sha256(token);
  const session = await sessionOf(store.read, hash);
  if (!session) return;
  await store.write(
    async (tx) => {
      const row = await sessionOf(tx, hash);
      if (!row) return;
      await tx.deleteFrom('operator_session').where('hash', '=', hash).execute();
      const caller = {
        id: row.id,
        tid: row.tid,
        name: row.name,
        role: parseKeyRole(row.role),
        kind: 'operator',
        proof: hash,
        ...origin,
      } as const;
      await appendChangeEntry(tx, caller, 'operator/signOut', {}, clock.now());
    },
    { tenant: session.tid },
  );
}
