import { sql } from 'kysely';
import { parseOperatorRole, type Role } from '#core/authorization/role.ts';
import { isRecent } from '#core/is-recent.ts';
import { appendChangeEntry } from '#features/audit/audit-entry.ts';
import { sha256 } from '#features/records/sha256.ts';
import type { Ports } from '#ports/ports.ts';
import type { Store, Tx } from '#ports/store.ts';

// The longest life and the idle time are the same as for sessions of visitors.
/** Longest life of a console session; ms. */
export const maxOperatorSessionTime = 12 * 3_600_000;
/** Longest life of a console session that began at the provider; ms. An operator who is removed there loses access within this time. */
const maxProviderSessionTime = 3_600_000;
const maxIdleTime = 3_600_000; // ms
const lastUseUpdateInterval = 60_000; // ms
export const sessionBits = 256;

/** Where a request comes from. */
export interface Origin {
  readonly address: string;
  readonly requestId: string;
}

export interface SignedInOperator {
  readonly id: number;
  readonly tid: number;
  readonly name: string;
  readonly role: Role;
  /** true: the session began at the provider, which may require a second factor itself. */
  readonly byProvider: boolean;
  /** true: the policy requires a second factor, and the operator has signed in with a password and has none. */
  readonly lacksSecondFactor: boolean;
}

interface OperatorSession extends SignedInOperator {
  readonly hash: string;
  readonly usedAt: number;
}

const lacksSecondFactor = sql<number>`(SELECT count(*) FROM tenant WHERE tenant.id = operator.tid AND tenant.second_factor_required = 1
  AND operator_session.by_provider = 0
  AND NOT EXISTS (SELECT 1 FROM second_factor WHERE second_factor.operator_id = operator.id))`.as('lacks_second_factor');

const findSessionRow = (db: Tx, hash: string) =>
  db
    .selectFrom('operator_session')
    .innerJoin('operator', 'operator.id', 'operator_session.operator_id')
    .select(['operator.id', 'operator.tid', 'operator.name', 'operator.role', 'operator.session_epoch'])
    .select(['operator_session.operator_epoch', 'operator_session.created_at', 'operator_session.used_at', 'operator_session.by_provider'])
    .select(lacksSecondFactor)
    .where('operator_session.hash', '=', hash)
    .executeTakeFirst();

type SessionRow = NonNullable<Awaited<ReturnType<typeof findSessionRow>>>;

const isActive = (row: SessionRow, now: number) =>
  row.operator_epoch === row.session_epoch &&
  isRecent(row.created_at, row.by_provider === 1 ? maxProviderSessionTime : maxOperatorSessionTime, now) &&
  isRecent(row.used_at, maxIdleTime, now);

/** Returns the role of the operator of an active session, or null if the session has ended. */
export async function roleOfSession(db: Tx, hash: string, now: number): Promise<Role | null> {
  const row = await findSessionRow(db, hash);
  return row && isActive(row, now) ? parseOperatorRole(row.role) : null;
}

export async function findOperatorSession(store: Store, token: string, now: number): Promise<OperatorSession | null> {
  const hash = sha256(token);
  const row = await store.cachedUntilChange(`operator ${hash}`, () => findSessionRow(store.read, hash));
  if (!row || !isActive(row, now)) return null;
  const { id, tid, name, used_at: usedAt } = row;
  const [byProvider, lacksSecondFactor] = [row.by_provider === 1, Number(row.lacks_second_factor) > 0];
  return { id, tid, name, role: parseOperatorRole(row.role), byProvider, lacksSecondFactor, hash, usedAt };
}

/** Records that a session was used, unless a use within the last minute is recorded. The request does not wait for it. */
export function recordOperatorUse(store: Store, { tid, hash, usedAt }: OperatorSession, now: number): void {
  if (now - usedAt < lastUseUpdateInterval) return;
  const update = (tx: Tx) => tx.updateTable('operator_session').set({ used_at: now }).where('hash', '=', hash).execute();
  void store.write(update, { tenant: tid }).catch(() => {}); // the next use is recorded instead
}

/**
 * Starts a session of an operator.
 * @param operator its id, and its session epoch at the time when the password or the sign-in at the provider was verified: an increase ends
 *   the session
 */
export async function startOperatorSession(
  tx: Tx,
  token: string,
  operator: { readonly id: number; readonly epoch: number; readonly byProvider?: true },
  now: number,
): Promise<void> {
  const { id, epoch, byProvider } = operator;
  const values = {
    hash: sha256(token),
    operator_id: id,
    operator_epoch: epoch,
    created_at: now,
    used_at: now,
    by_provider: byProvider ? 1 : 0,
  };
  await tx.insertInto('operator_session').values(values).execute();
  await tx.updateTable('operator').set({ last_sign_in_at: now }).where('id', '=', operator.id).execute();
}

/** Ends the session of a token, if there is one, and appends an audit entry. */
export async function endOperatorSession({ store, clock }: Pick<Ports, 'store' | 'clock'>, token: string, origin: Origin): Promise<void> {
  const hash = sha256(token);
  const session = await findSessionRow(store.read, hash);
  if (!session) return;
  await store.write(
    async (tx) => {
      const row = await findSessionRow(tx, hash);
      if (!row) return;
      await tx.deleteFrom('operator_session').where('hash', '=', hash).execute();
      const caller = {
        id: row.id,
        tid: row.tid,
        name: row.name,
        role: parseOperatorRole(row.role),
        kind: 'operator',
        byProvider: row.by_provider === 1,
        lacksSecondFactor: false,
        credentialHash: hash,
        ...origin,
      } as const;
      await appendChangeEntry(tx, caller, 'operator/signOut', {}, clock.now());
    },
    { tenant: session.tid },
  );
}
