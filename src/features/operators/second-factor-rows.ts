import type { Selectable } from 'kysely';
import { formatInstant } from '#core/instant.ts';
import { fieldRefusal, Refusal } from '#core/messages.ts';
import type { SecondFactors } from '#core/records/second-factor.ts';
import { newRecoveryCode, recoveryCodeCount } from '#core/recovery-code.ts';
import { parseCode } from '#core/sign-in-codes.ts';
import type { Caller, ChangeResult } from '#features/operation.ts';
import type { SecondFactorTable } from '#ports/caller-tables.ts';
import type { Ports, SyncPorts } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';
import type { Vault } from '#ports/vault.ts';
import { verifyCurrentPassword } from './current-password.ts';

const maxFactors = 10;

/** The purpose with which the vault seals the secret of an authenticator app. */
export const totpPurpose = 'second factor';

/** Returns the second factors of an operator, the oldest first. */
export const selectSecondFactors = (db: Tx, operatorId: number) =>
  db.selectFrom('second_factor').selectAll().where('operator_id', '=', operatorId).orderBy('id').execute();

/** Returns the HMAC of a recovery code. The database stores only the HMAC. @param digits of the code */
export const recoveryCodeKey = (vault: Pick<Vault, 'mac'>, operatorId: number, digits: string) =>
  vault.mac('recovery code', `${operatorId} ${digits}`);

export async function requiresSecondFactor(db: Tx, tid: number): Promise<boolean> {
  const tenant = await db.selectFrom('tenant').select('second_factor_required').where('id', '=', tid).executeTakeFirstOrThrow();
  return tenant.second_factor_required === 1;
}

/** Checks that the caller is an operator: keys have no second factors. @throws Refusal (403) */
export function checkIsOperator({ kind }: Caller): void {
  if (kind !== 'operator') throw new Refusal('roleTooLow', 'API keys have no second factors: sign in to the console as an operator.');
}

export const selectOperator = (db: Tx, id: number) =>
  db.selectFrom('operator').select(['id', 'name', 'password_hash', 'session_epoch']).where('id', '=', id).executeTakeFirstOrThrow();

/**
 * Checks that the caller is an operator who knows the password.
 * @returns the operator. Pass its `password_hash` to `checkPasswordIsCurrent` in the transaction
 * @throws Refusal (403; 429 during the delay after failed attempts; 503 if too many sign-ins wait)
 */
export async function verifyOperatorPassword(ports: Ports, caller: Caller, password: string): ReturnType<typeof selectOperator> {
  checkIsOperator(caller);
  const operator = await selectOperator(ports.store.read, caller.id);
  await verifyCurrentPassword(ports, caller, operator.name, operator.password_hash, password);
  return operator;
}

/** Increments the version of an operator, whose record shows whether there is a second factor. @param changedBy null: no caller */
async function incrementVersion(tx: Tx, operatorId: number, changedBy: string | null, now: number): Promise<void> {
  await tx
    .updateTable('operator')
    .set((row) => ({ version: row('version', '+', 1), updated_at: now, ...(changedBy === null ? {} : { updated_owner: changedBy }) }))
    .where('id', '=', operatorId)
    .execute();
}

/** A new second factor. `secret` is sealed. */
type NewFactor = Pick<Selectable<SecondFactorTable>, 'kind' | 'title' | 'secret' | 'last_step'>;

/** Adds a second factor to the caller. @returns recovery codes if it is the first one, and the audit entry. @throws Refusal (400) */
export async function insertSecondFactor(tx: Tx, { id, name }: Caller, factor: NewFactor, ports: SyncPorts): Promise<ChangeResult> {
  const before = await selectSecondFactors(tx, id);
  if (before.length >= maxFactors) throw fieldRefusal('title', `at most ${maxFactors} second factors are allowed: remove one first`);
  const now = ports.clock.now();
  const times = { created_at: now, last_used_at: null };
  await tx
    .insertInto('second_factor')
    .values({ operator_id: id, ...factor, ...times })
    .execute();
  if (before.length === 0) await incrementVersion(tx, id, name, now);
  const created = before.length === 0 ? { recoveryCodes: await renewCodes(tx, id, ports) } : {};
  return { created, audit: { after: { kind: factor.kind, title: factor.title } } };
}

/** Replaces the recovery codes of an operator. @returns the new codes */
export async function renewCodes(tx: Tx, operatorId: number, { random, vault }: Pick<SyncPorts, 'random' | 'vault'>): Promise<string[]> {
  const codes = Array.from({ length: recoveryCodeCount }, () => newRecoveryCode(random));
  await tx.deleteFrom('recovery_code').where('operator_id', '=', operatorId).execute();
  const values = codes.map((code) => ({ operator_id: operatorId, code_key: recoveryCodeKey(vault, operatorId, parseCode(code)) }));
  await tx.insertInto('recovery_code').values(values).execute();
  return codes;
}

/** Removes all second factors and recovery codes of an operator. @param changedBy name of the caller; null: a command on the server */
export async function removeSecondFactors(tx: Tx, operatorId: number, changedBy: string | null, now: number): Promise<void> {
  await tx.deleteFrom('second_factor').where('operator_id', '=', operatorId).execute();
  await tx.deleteFrom('recovery_code').where('operator_id', '=', operatorId).execute();
  await incrementVersion(tx, operatorId, changedBy, now);
}

/** Returns the second factors of an operator, for responses. */
export async function secondFactorRecords(db: Tx, { id, tid }: Pick<Caller, 'id' | 'tid'>): Promise<SecondFactors> {
  const rows = await selectSecondFactors(db, id);
  const { codes } = await db
    .selectFrom('recovery_code')
    .select(({ fn }) => fn.countAll<number>().as('codes'))
    .where('operator_id', '=', id)
    .executeTakeFirstOrThrow();
  const list = rows.map(({ id, kind, title, created_at, last_used_at }) => ({
    ...{ id, kind, title, createDateTime: formatInstant(created_at) },
    lastUseDateTime: last_used_at === null ? null : formatInstant(last_used_at),
  }));
  return { list, recoveryCodesLeft: Number(codes), required: await requiresSecondFactor(db, tid) };
}
