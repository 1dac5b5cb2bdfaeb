import { fold } from '#core/fold.ts';
import { Refusal } from '#core/messages.ts';
import type { OperatorSignIn } from '#core/records/operator.ts';
import { firstTenant } from '#core/records/tenant.ts';
import { countedAttempt, networkKeys, pairKey } from '#features/failures.ts';
import type { Caller } from '#features/operation.ts';
import { recordChange, recordHappening } from '#features/trail.ts';
import type { Ports } from '#ports/ports.ts';
import { roleOf, secretHash } from './key-rows.ts';
import { beginOperatorSession, type Origin, sessionBits } from './operator-session.ts';

/** An operator who has just signed in: only their browser keeps the token. */
export interface OperatorEntered {
  readonly caller: Caller;
  readonly token: string;
}

/** Unknown and wrong take as long and answer alike. */
async function verify({ store, passwordHash }: Ports, tid: number, name: string, password: string) {
  const operator = await store.read
    .selectFrom('operator')
    .selectAll()
    .where('tid', '=', tid)
    .where('name_key', '=', fold(name))
    .executeTakeFirst();
  return (await passwordHash.verify(operator?.password_hash ?? null, password)) && operator ? operator : null;
}

/** Guesses at the most powerful accounts are told in the trail of their tenant; the slow-down bounds how many. */
async function tellRefused(
  { store, clock }: Ports,
  refused: { tid: number; name: string; origin: Origin; cause: unknown },
): Promise<never> {
  const { tid, name, origin, cause } = refused;
  if (!(cause instanceof Refusal) || cause.says !== 'signInWrong') throw cause;
  await store.write(async (tx) => {
    if (!(await tx.selectFrom('tenant').select('id').where('id', '=', tid).executeTakeFirst())) return;
    await recordHappening(tx, {
      ...{ tid, at: clock.now(), actor: '', actorKind: 'operator', address: origin.address, requestId: origin.requestId },
      ...{ action: 'operator/signIn', outcome: 'refused', share: null, path: '', bytes: null, before: null, process: null },
      after: { because: cause.says, name },
    });
  });
  throw cause;
}

/**
 * Signs an operator in to the console.
 * @throws 401, the same for an unknown name and a wrong password; 429 within the wait; 503 where too many wait
 */
export async function signInOperator(ports: Ports, body: OperatorSignIn, origin: Origin): Promise<OperatorEntered> {
  const { store, clock, random } = ports;
  const [tid, name] = [body.tid ?? firstTenant, body.name.normalize('NFC')];
  const pair = pairKey(`operator ${tid}`, fold(name), origin.address);
  const right = await countedAttempt(ports, pair, networkKeys('operator', origin.address), () =>
    verify(ports, tid, name, body.password),
  ).catch((cause: unknown) => tellRefused(ports, { tid, name, origin, cause }));
  const token = random.token(sessionBits);
  const caller = {
    id: right.id,
    tid,
    name: right.name,
    kind: 'operator',
    role: roleOf(right.role),
    proof: secretHash(token),
    ...origin,
  } as const;
  await store.write(async (tx) => {
    const operator = await tx.selectFrom('operator').select('session_epoch').where('id', '=', right.id).executeTakeFirst();
    // The password was another's business meanwhile: what was verified holds no longer.
    if (operator?.session_epoch !== right.session_epoch) throw new Refusal('signInWrong');
    await beginOperatorSession(tx, token, { id: right.id, epoch: right.session_epoch }, clock.now());
    await recordChange(tx, caller, 'operator/signIn', {}, clock.now());
  });
  return { caller, token };
}
