import { parseOperatorRole } from '#core/authorization/role.ts';
import { fold } from '#core/fold.ts';
import { Refusal } from '#core/messages.ts';
import type { OperatorSignIn } from '#core/records/operator.ts';
import { firstTenant } from '#core/records/tenant.ts';
import { normalizeText } from '#core/unicode.ts';
import { appendAuditEntry, appendChangeEntry } from '#features/audit/audit-entry.ts';
import type { Caller } from '#features/operation.ts';
import { attemptTurn, checkDelay, networkKeys, pairKey, verifyAttempt } from '#features/rate-limits/failed-attempts.ts';
import { sha256 } from '#features/records/sha256.ts';
import type { VerifyPassword } from '#ports/password-hash.ts';
import type { Ports } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';
import { checkSecondFactor, consumeProof } from './check-second-factor.ts';
import { type Origin, sessionBits, startOperatorSession } from './operator-session.ts';
import { requiresSecondFactor } from './second-factor-rows.ts';

/** The result of a sign-in. The token is stored only in the browser: the database holds its hash. */
export interface OperatorSignInResult {
  readonly caller: Caller;
  readonly token: string;
}

/**
 * Returns the operator and the proof of the second factor, which is null if the operator has none; a Refusal if the second factor is wrong;
 * null for a wrong name or password. An unknown name takes as long as a wrong password, so that the time does not reveal which names exist.
 * @throws Refusal (401, 429) of `checkSecondFactor`; then the attempt with the password does not count
 */
async function verifyOperator(ports: Ports, tid: number, { name, password, ...secondFactor }: OperatorSignIn, verify: VerifyPassword) {
  const operator = await findOperator(ports.store.read, tid, name);
  const isRight = await verify(operator?.password_hash || null, password);
  if (!isRight || !operator) return null;
  const proof = await checkSecondFactor(ports, operator, secondFactor);
  return proof instanceof Refusal ? proof : { operator, proof };
}

const findOperator = (db: Tx, tid: number, name: string) =>
  db.selectFrom('operator').selectAll().where('tid', '=', tid).where('name_key', '=', fold(name)).executeTakeFirst();

/**
 * Appends an audit entry for a wrong name, password or second factor, and throws the cause again. The delay after failed attempts
 * limits the number of these entries.
 */
async function auditRefusedSignIn(
  { store, clock }: Ports,
  attempt: { tid: number; name: string; origin: Origin; cause: unknown },
): Promise<never> {
  const { tid, name, origin, cause } = attempt;
  if (!(cause instanceof Refusal) || !['signInWrong', 'secondFactorWrong'].includes(cause.messageName)) throw cause;
  await store.write(
    async (tx) => {
      if (!(await tx.selectFrom('tenant').select('id').where('id', '=', tid).executeTakeFirst())) return;
      // An unknown name is not recorded: it may be a password that was typed into the wrong field.
      const knownName = (await findOperator(tx, tid, name))?.name;
      await appendAuditEntry(tx, {
        ...{ tid, at: clock.now(), actor: '', actorKind: 'operator', address: origin.address, requestId: origin.requestId },
        ...{ action: 'operator/signIn', outcome: 'refused', share: null, path: '', bytes: null, before: null, process: null },
        after: { because: cause.messageName, ...(knownName === undefined ? {} : { name: knownName }) },
      });
    },
    attemptTurn(networkKeys('operator', origin.address)),
  );
  throw cause;
}

/**
 * Signs an operator in to the console.
 * @throws Refusal 401, the same for an unknown name and a wrong password; `secondFactorNeeded` and `secondFactorWrong` for a missing
 * or wrong second factor; 429 until the delay after failed attempts is over; 503 if too many sign-ins wait
 */
export async function signInOperator(ports: Ports, body: OperatorSignIn, origin: Origin): Promise<OperatorSignInResult> {
  const { store, clock, random } = ports;
  const [tid, name] = [body.tid ?? firstTenant, normalizeText(body.name)];
  const pair = pairKey(`operator ${tid}`, fold(name), origin.address);
  const networks = networkKeys('operator', origin.address);
  await checkDelay(store.read, [pair, ...networks], clock.now());
  const attempt = (verify: VerifyPassword) =>
    verifyAttempt(ports, pair, networks, () => verifyOperator(ports, tid, { ...body, name }, verify));
  const { operator, proof } = await ports.passwordHash
    .runInTurn(origin.address, attempt)
    .catch((cause: unknown) => auditRefusedSignIn(ports, { tid, name, origin, cause }));
  const token = random.token(sessionBits);
  const caller = {
    id: operator.id,
    tid,
    name: operator.name,
    kind: 'operator',
    role: parseOperatorRole(operator.role),
    byProvider: false,
    lacksSecondFactor: proof === null && (await requiresSecondFactor(store.read, tid)),
    credentialHash: sha256(token),
    ...origin,
  } as const;
  await store.write(async (tx) => {
    const current = await tx.selectFrom('operator').select('session_epoch').where('id', '=', operator.id).executeTakeFirst();
    // Since the password was verified, it has changed, the operator's sessions were ended, or the operator was deleted.
    if (current?.session_epoch !== operator.session_epoch) throw new Refusal('signInWrong');
    if (proof) await consumeProof(tx, operator.id, proof, clock.now());
    await startOperatorSession(tx, token, { id: operator.id, epoch: operator.session_epoch }, clock.now());
    await appendChangeEntry(tx, caller, 'operator/signIn', {}, clock.now());
  }, attemptTurn(networks));
  return { caller, token };
}
