import { Refusal } from '#core/messages.ts';
import { checkNewPassword } from '#core/password-rules.ts';
import type { FirstOperator } from '#core/records/operator.ts';
import { firstTenant } from '#core/records/tenant.ts';
import { recordChange } from '#features/trail.ts';
import type { Ports } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';
import { secretHash } from './key-rows.ts';
import { insertOperator, operatorRecord } from './operator-rows.ts';
import { beginOperatorSession, sessionBits } from './operator-session.ts';
import type { OperatorEntered, Origin } from './sign-in-operator.ts';

const invitationLife = 3_600_000; // ms
const invitationBits = 256;

const anyOperator = (db: Tx) => db.selectFrom('operator').select('id').executeTakeFirst();

/**
 * What the console's first address carries: it makes the first operator, once and within an hour.
 * @returns null where an operator exists
 */
export async function inviteFirstOperator({ store, clock, random }: Pick<Ports, 'store' | 'clock' | 'random'>): Promise<string | null> {
  const token = random.token(invitationBits);
  const now = clock.now();
  return store.write(async (tx) => {
    await tx.deleteFrom('console_invitation').where('expires_at', '<=', now).execute();
    if (await anyOperator(tx)) return null;
    await tx
      .insertInto('console_invitation')
      .values({ hash: secretHash(token), expires_at: now + invitationLife })
      .execute();
    return token;
  });
}

/** Makes the first operator, an admin of tenant 1, and signs them in. @throws 400, 410 */
export async function makeFirstOperator(ports: Ports, body: FirstOperator, origin: Origin): Promise<OperatorEntered> {
  const { store, clock, random, passwordHash } = ports;
  checkNewPassword(body, 'password');
  await checkInvited(store.read, body.token, clock.now()); // before a hash is computed for nobody
  const hash = await passwordHash.hash(body.password);
  const [token, name] = [random.token(sessionBits), body.name.normalize('NFC')];
  const id = await store.write(async (tx) => {
    const now = clock.now();
    await checkInvited(tx, body.token, now);
    await tx.deleteFrom('console_invitation').execute();
    const made = await insertOperator(tx, { tid: firstTenant, name, role: 'admin', passwordHash: hash, owner: name }, now);
    await beginOperatorSession(tx, token, { id: made, epoch: 1 }, now);
    const caller = { id: made, tid: firstTenant, name, kind: 'operator', role: 'admin', ...origin } as const;
    await recordChange(tx, caller, 'operator/first', { after: await operatorRecord(tx, firstTenant, made) }, now);
    return made;
  });
  return { caller: { id, tid: firstTenant, name, kind: 'operator', role: 'admin', ...origin }, token };
}

async function checkInvited(db: Tx, token: string, now: number): Promise<void> {
  const invited = await db
    .selectFrom('console_invitation')
    .select('hash')
    .where('hash', '=', secretHash(token))
    .where('expires_at', '>', now)
    .executeTakeFirst();
  if (!invited || (await anyOperator(db))) throw new Refusal('firstAddressEnded');
}
