import type { FastifyRequest } from 'fastify';
import { Refusal } from '#core/messages.ts';
import { checkWait, networkKeys, noteFailure } from '#features/failures.ts';
import type { Caller } from '#features/operation.ts';
import { findKey, noteUse } from '#features/operators/find-caller.ts';
import type { Ports } from '#ports/ports.ts';

/** The secret of `Authorization: Bearer …` (RFC 6750, 2.1), or null. */
export function bearerOf(header: string | undefined): string | null {
  return /^Bearer +([\w\-.~+/]+=*) *$/i.exec(header ?? '')?.[1] ?? null;
}

/** Counts a wrong key against its network. @throws 429 while that network has to wait, else 401 */
export async function refuseKey({ store, clock }: Pick<Ports, 'store' | 'clock'>, address: string): Promise<never> {
  const keys = networkKeys('apiKey', address);
  await store.write(async (tx) => {
    await checkWait(tx, keys, clock.now());
    await noteFailure(tx, keys, clock.now());
  });
  throw new Refusal('keyWrong');
}

/** Who calls. @throws 401, and 429 for a network of wrong keys; a right key never waits */
export async function callerOf(request: FastifyRequest, ports: Pick<Ports, 'store' | 'clock'>): Promise<Caller> {
  const secret = bearerOf(request.headers.authorization);
  if (secret === null) throw new Refusal('keyMissing', 'Send Authorization: Bearer and an API key.');
  const now = ports.clock.now();
  const key = await findKey(ports.store, secret, now);
  if (!key) return refuseKey(ports, request.ip);
  noteUse(ports.store, key, now);
  return { tid: key.tid, name: key.name, role: key.role, keyId: key.keyId, address: request.ip, requestId: request.id };
}
