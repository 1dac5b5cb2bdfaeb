import { fold } from '#core/fold.ts';
import { Refusal } from '#core/messages.ts';
import { parseKeyRole } from '#core/policy/role.ts';
import type { OperatorSignIn } from '#core/records/operator.ts';
import { firstTenant } from '#core/records/tenant.ts';
import { normalizeText } from '#core/unicode.ts';
import { appendAuditEntry, appendChangeEntry } from '#features/audit/audit-entry.ts';
import type { Caller } from '#features/operation.ts';
import { attemptTurn, checkWait, networkKeys, pairKey, verifyCounted } from '#features/rate-limits/failed-attempts.ts';
import { sha256 } from '#features/records/sha256.ts';
import type { VerifyPassword } from '#ports/password-hash.ts';
import type { Ports } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';
import { beginOperatorSession, type Origin, sessionBits } from './operator-session.ts';

/** An operator who has just signed in: only their browser keeps the token. */
export interface OperatorSignedIn {
  readonly caller: Caller;
  readonly token: string;
}

/** Unknown and wrong take as long and answer alike. */
async function verifyOperator({ store }: Ports, tid: number, { name, password }: OperatorSignIn, verify: VerifyPassword) {
  const operator = await operatorNamed(store.read, tid, name);
  const right = await verify(operator?.password_hash ?? null, password);
  return right && operator ? operator : null;
}

const operatorNamed = (db: Tx, tid: number, name: string) =>
  db.selectFrom('operator').selectAll().where('tid', '=', tid).where('name_key', '=', fold(name)).executeTakeFirst();

/** Guesses at the most powerful accounts are told in the trail of their tenant; the slow-down bounds how many. */
async function auditRefusal(
  { store, clock }: Ports,
  refused: { tid: number; name: string; origin: Origin; cause: unknown },
): Promise<never> {
  const { tid, name, origin, cause } = refused;
  if (!(cause instanceof Refusal) || cause.messageName !== 'signInWrong') throw cause;
  await store.write(
    async (tx) => {
      if (!(await tx.selectFrom('tenant').select('id').where('id', '=', tid).executeTakeFirst())) return;
      // A name that nobody has may be a password that was typed into the wrong field.
      const known = (await operatorNamed(tx, tid, name))?.name;
      await appendAuditEntry(tx, {
        ...{ tid, at: clock.now(), actor: '', actorKind: 'operator', address: origin.address, requestId: origin.requestId },
        ...{ action: 'operator/signIn', outcome: 'refused', share: null, path: '', bytes: null, before: null, process: null },
        after: { because: cause.messageName, ...(known === undefined ? {} : { name: known }) },
      });
    },
    attemptTurn(networkKeys('operator', origin.address)),
  );
  throw cause;
}

/**
 * Signs an operator in to the console.
 * @throws 401, the same for an unknown name and a wrong password; 429 within the wait; 503 where too many wait
 */
export async function signInOperator(ports: Ports, body: OperatorSignIn, origin: Origin): Promise<OperatorSignedIn> {
  const { store, clock, random } = ports;
  const [tid, name] = [body.tid ?? firstTenant, normalizeText(body.name)];
  const pair = pairKey(`operator ${tid}`, fold(name), origin.address);
  const networks = networkKeys('operator', origin.address);
  await checkWait(store.read, [pair, ...networks], clock.now());
  const attempt = (verify: VerifyPassword) =>
    verifyCounted(ports, pair, networks, () => verifyOperator(ports, tid, { ...body, name }, verify));
  const right = await ports.passwordHash
    .inTurn(origin.address, attempt)
    .catch((cause: unknown) => auditRefusal(ports, { tid, name, origin, cause }));
  const token = random.token(sessionBits);
  const caller = {
    id: right.id,
    tid,
    name: right.name,
    kind: 'operator',
    role: parseKeyRole(right.role),
    proof: sha256(token),
    ...origin,
  } as const;
  await store.write(async (tx) => {
    const operator = await tx.selectFrom('operator').select('session_epoch').where('id', '=', right.id).executeTakeFirst();
    // The password was another's business meanwhile: what was verified holds no longer.
    if (operator?.session_epoch !== right.session_epoch) throw new Refusal('signInWrong');
    await beginOperatorSession(tx, token, { id: right.id, epoch: right.session_epoch }, clock.now());
    await appendChangeEntry(tx, caller, 'operator/signIn', {}, clock.now());
  }, attemptTurn(networks));
  return { caller, token };
}
