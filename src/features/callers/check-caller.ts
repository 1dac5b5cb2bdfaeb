import { Refusal } from '#core/messages.ts';
import { type Role, reaches } from '#core/policy/role.ts';
import { roleOfKey } from '#features/api-keys/find-api-key.ts';
import type { Caller } from '#features/operation.ts';
import { roleOfSession } from '#features/operators/operator-session.ts';
import type { Tx } from '#ports/store.ts';

/**
 * Asks anew who calls, in the transaction of the change: whoever was thrown out while the body came, or a password was
 * hashed, changes nothing any more. The same before each part of an answer that is streamed.
 * @returns the caller with the role of this moment; @throws 401, 403
 */
export async function checkCaller(tx: Tx, caller: Caller, needs: Role, now: number): Promise<Caller> {
  const isKey = caller.kind === 'key';
  const role = await (isKey ? roleOfKey : roleOfSession)(tx, caller.proof, now);
  if (role === null) throw new Refusal(isKey ? 'keyWrong' : 'signInNeeded');
  checkRole({ kind: caller.kind, role }, needs);
  return { ...caller, role };
}

/** @throws 403 */
export function checkRole({ kind, role }: Pick<Caller, 'kind' | 'role'>, needs: Role): void {
  if (!reaches(role, needs)) throw new Refusal('roleTooLow', `This needs the role ${needs}; the ${kind} has ${role}.`);
}
