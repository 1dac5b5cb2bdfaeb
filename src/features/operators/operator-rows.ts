import { parseOperatorRole, type Role } from '#core/authorization/role.ts';
import { fold } from '#core/fold.ts';
import { formatInstant } from '#core/instant.ts';
import { Refusal } from '#core/messages.ts';
import type { Operator } from '#core/records/operator.ts';
import { inIdOrder } from '#features/records/in-id-order.ts';
import { recordStamps } from '#features/records/record-stamps.ts';
import type { Tx } from '#ports/store.ts';

/** Returns the records of a tenant's operators, in the order of the ids. */
export async function operatorRecords(db: Tx, tid: number, ids: readonly number[]): Promise<Operator[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('operator')
    .selectAll()
    .where('tid', '=', tid)
    .where('id', 'in', [...ids])
    .execute();
  const withFactor = await db
    .selectFrom('second_factor')
    .select('operator_id')
    .distinct()
    .where('operator_id', 'in', [...ids])
    .execute();
  const factorIds = new Set(withFactor.map(({ operator_id }) => operator_id));
  const records = rows.map((row) => ({
    id: row.id,
    tid: row.tid,
    name: row.name,
    role: parseOperatorRole(row.role),
    signsInAtProvider: row.provider_subject !== null,
    roleFromProvider: row.is_managed === 1,
    hasSecondFactor: factorIds.has(row.id),
    lastSignInDateTime: row.last_sign_in_at === null ? null : formatInstant(row.last_sign_in_at),
    ...recordStamps(row),
  }));
  return inIdOrder(ids, records);
}

/** Returns the record of an operator. @throws Refusal 404 if the tenant has no such operator */
export async function operatorRecord(db: Tx, tid: number, id: number): Promise<Operator> {
  const [record] = await operatorRecords(db, tid, [id]);
  if (!record) throw new Refusal('recordUnknown');
  return record;
}

/**
 * Checks that no other operator of the tenant has the name.
 * @param ownId id of the operator that will have the name; absent: a new operator
 * @throws Refusal 409
 */
export async function checkOperatorName(db: Tx, tid: number, name: string, ownId?: number): Promise<void> {
  const other = await db
    .selectFrom('operator')
    .select('id')
    .where('tid', '=', tid)
    .where('name_key', '=', fold(name))
    .where('id', '!=', ownId ?? 0)
    .executeTakeFirst();
  if (other) throw new Refusal('nameTaken', undefined, { fieldErrors: [{ field: 'name', detail: 'is the name of another operator' }] });
}

/**
 * Checks that the tenant keeps an admin: without one, no operator could change operators.
 * @param exceptId id of the operator that will no longer be an admin
 * @throws Refusal 409
 */
export async function checkAdminRemains(db: Tx, tid: number, exceptId: number): Promise<void> {
  const admin = await db
    .selectFrom('operator')
    .select('id')
    .where('tid', '=', tid)
    .where('role', '=', 'admin')
    .where('id', '!=', exceptId)
    .limit(1)
    .executeTakeFirst();
  if (!admin) throw new Refusal('operatorLast');
}

interface NewOperatorRow {
  readonly tid: number;
  readonly name: string;
  readonly role: Role;
  /** Empty: the operator signs in at the provider. */
  readonly passwordHash: string;
  readonly owner: string;
  /** Issuer and subject of the user at the provider. The groups of this user set the role at each sign-in. */
  readonly providerSubject?: string;
}

/** Inserts an operator. @returns its id; @throws Refusal 409 if the name is in use */
export async function insertOperator(
  tx: Tx,
  { tid, name, role, passwordHash, owner, providerSubject }: NewOperatorRow,
  now: number,
): Promise<number> {
  await checkOperatorName(tx, tid, name);
  const values = {
    tid,
    version: 1,
    name,
    name_key: fold(name),
    role,
    password_hash: passwordHash,
    session_epoch: 1,
    last_sign_in_at: null,
    provider_subject: providerSubject ?? null,
    is_managed: providerSubject === undefined ? 0 : 1,
    created_owner: owner,
    updated_owner: owner,
    created_at: now,
    updated_at: now,
  };
  const { id } = await tx.insertInto('operator').values(values).returning('id').executeTakeFirstOrThrow();
  return id;
}
