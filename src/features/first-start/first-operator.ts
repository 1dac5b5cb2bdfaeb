import { Refusal } from '#core/messages.ts';
import { checkNewPassword } from '#core/password-rules.ts';
import type { FirstOperator } from '#core/records/operator.ts';
import { firstTenant } from '#core/records/tenant.ts';
import { normalizeText } from '#core/unicode.ts';
import { appendChangeEntry } from '#features/audit/audit-entry.ts';
import { insertOperator, operatorRecord } from '#features/operators/operator-rows.ts';
import { type Origin, sessionBits, startOperatorSession } from '#features/operators/operator-session.ts';
import type { OperatorSignInResult } from '#features/operators/sign-in-operator.ts';
import { attemptTurn, networkKeys } from '#features/rate-limits/failed-attempts.ts';
import { sha256 } from '#features/records/sha256.ts';
import type { Ports } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';

const invitationLife = 3_600_000; // ms
const invitationBits = 256;

const findAdmin = (db: Tx) =>
  db.selectFrom('operator').select('id').where('tid', '=', firstTenant).where('role', '=', 'admin').limit(1).executeTakeFirst();

/**
 * Creates a token with which the first operator can be created, once and within an hour.
 * @returns the token, or null if tenant 1 already has an operator with the role admin
 */
export async function inviteFirstOperator({ store, clock, random }: Pick<Ports, 'store' | 'clock' | 'random'>): Promise<string | null> {
  const token = random.token(invitationBits);
  const now = clock.now();
  return store.write(async (tx) => {
    await tx.deleteFrom('console_invitation').where('expires_at', '<=', now).execute();
    if (await findAdmin(tx)) return null;
    await tx
      .insertInto('console_invitation')
      .values({ hash: sha256(token), expires_at: now + invitationLife })
      .execute();
    return token;
  }, 'job');
}

/** Creates the first operator, an admin of tenant 1, and signs them in. @throws Refusal (400, 409, 410, 503) */
export async function createFirstOperator(ports: Ports, body: FirstOperator, origin: Origin): Promise<OperatorSignInResult> {
  const { store, clock, random, passwordHash } = ports;
  checkNewPassword(body, 'password');
  await checkInvitation(store.read, body.token, clock.now()); // an invalid token must not cost a password hash
  const hash = await passwordHash.hash(body.password, { tid: firstTenant });
  const [token, name] = [random.token(sessionBits), normalizeText(body.name)];
  const caller = await store.write(
    async (tx) => {
      const now = clock.now();
      await checkInvitation(tx, body.token, now);
      await tx.deleteFrom('console_invitation').execute();
      const id = await insertOperator(tx, { tid: firstTenant, name, role: 'admin', passwordHash: hash, owner: name }, now);
      await startOperatorSession(tx, token, { id, epoch: 1 }, now);
      const newCaller = {
        id,
        tid: firstTenant,
        name,
        kind: 'operator',
        role: 'admin',
        byProvider: false,
        lacksSecondFactor: false,
        credentialHash: sha256(token),
        ...origin,
      } as const;
      await appendChangeEntry(tx, newCaller, 'operator/first', { after: await operatorRecord(tx, firstTenant, id) }, now);
      return newCaller;
    },
    attemptTurn(networkKeys('operator', origin.address)),
  );
  return { caller, token };
}

async function checkInvitation(db: Tx, token: string, now: number): Promise<void> {
  const invitation = await db
    .selectFrom('console_invitation')
    .select('hash')
    .where('hash', '=', sha256(token))
    .where('expires_at', '>', now)
    .where('expires_at', '<', now + 2 * invitationLife) // one that expires later was created while the clock was ahead
    .executeTakeFirst();
  if (!invitation || (await findAdmin(db))) throw new Refusal('firstAddressEnded');
}
