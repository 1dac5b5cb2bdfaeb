import { includesRole, type Role } from '#core/authorization/role.ts';
import { Refusal } from '#core/messages.ts';
import { findKeyRole } from '#features/api-keys/find-api-key.ts';
import type { Caller, Operation } from '#features/operation.ts';
import { roleOfSession } from '#features/operators/operator-session.ts';
import type { Tx } from '#ports/store.ts';

/**
 * Checks the caller again, in the transaction of the change: the key or operator may have been removed while the body
 * arrived or a password was hashed. A streamed response runs the same check before each part.
 * @returns the caller with its current role
 * @throws Refusal (401, 403)
 */
export async function checkCaller(tx: Tx, caller: Caller, requiredRole: Role, now: number): Promise<Caller> {
  const isKey = caller.kind === 'key';
  const role = await (isKey ? findKeyRole : roleOfSession)(tx, caller.credentialHash, now);
  if (role === null) throw new Refusal(isKey ? 'keyWrong' : 'signInNeeded');
  checkRole({ kind: caller.kind, role }, requiredRole);
  return { ...caller, role };
}

/** Checks that the caller may call an operation. @throws Refusal (403) */
export function checkOperation(caller: Caller, { role, withoutSecondFactor }: Pick<Operation, 'role' | 'withoutSecondFactor'>): void {
  checkRole(caller, role);
  if (caller.lacksSecondFactor && !withoutSecondFactor) throw new Refusal('secondFactorMissing');
}

/** Checks that a role includes the required one. @throws Refusal (403) */
function checkRole({ kind, role }: Pick<Caller, 'kind' | 'role'>, requiredRole: Role): void {
  if (!includesRole(role, requiredRole))
    throw new Refusal('roleTooLow', `This operation requires the role ${requiredRole}, but the ${kind} has the role ${role}.`);
}
