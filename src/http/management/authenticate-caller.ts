import type { FastifyRequest } from 'fastify';
import { Refusal } from '#core/messages.ts';
import { findValidKey, recordKeyUse } from '#features/api-keys/find-api-key.ts';
import type { Caller } from '#features/operation.ts';
import { findOperatorSession, recordOperatorUse } from '#features/operators/operator-session.ts';
import { countAttempt, networkKeys } from '#features/rate-limits/failed-attempts.ts';
import type { Ports } from '#ports/ports.ts';
import { consoleToken } from './console-cookie.ts';

type CallerPorts = Pick<Ports, 'store' | 'clock' | 'links'>;

/** Returns the secret of `Authorization: Bearer …` (RFC 6750, 2.1), or null. */
export function bearerToken(header: string | undefined): string | null {
  return /^Bearer +([\w\-.~+/]+=*) *$/i.exec(header ?? '')?.[1] ?? null;
}

/** Counts a wrong key against the network of the client. @throws Refusal (429) while the network must wait, else Refusal (401) */
export async function refuseKey(ports: Pick<Ports, 'store' | 'clock'>, address: string): Promise<never> {
  await countAttempt(ports, networkKeys('apiKey', address));
  throw new Refusal('keyWrong');
}

/** Returns the operator of a session. @throws Refusal (401) if it does not exist or has ended */
async function authenticateOperator(request: FastifyRequest, token: string, { store, clock }: CallerPorts): Promise<Caller> {
  const now = clock.now();
  const session = await findOperatorSession(store, token, now);
  if (!session) throw new Refusal('signInNeeded', 'The session has ended: sign in again.');
  recordOperatorUse(store, session, now);
  const { id, tid, name, role, hash, byProvider, lacksSecondFactor } = session;
  return {
    id,
    tid,
    name,
    role,
    byProvider,
    lacksSecondFactor,
    kind: 'operator',
    credentialHash: hash,
    address: request.ip,
    requestId: request.id,
  };
}

/**
 * Returns the caller: an API key, or the operator of a session.
 * @throws Refusal (401, or 429 for a network that has sent too many wrong keys; a valid key never waits)
 */
export async function authenticateCaller(request: FastifyRequest, ports: CallerPorts): Promise<Caller> {
  const secret = bearerToken(request.headers.authorization);
  const token = secret === null && request.headers.authorization === undefined ? consoleToken(request, ports.links.publicUrl()) : null;
  if (token !== null) return authenticateOperator(request, token, ports);
  if (secret === null) throw new Refusal('keyMissing', 'Send an API key in the header Authorization: Bearer.');
  const now = ports.clock.now();
  const key = await findValidKey(ports.store, secret, now);
  if (!key) return refuseKey(ports, request.ip);
  recordKeyUse(ports.store, key, now);
  const { keyId: id, tid, name, role, hash } = key;
  return {
    id,
    tid,
    name,
    role,
    byProvider: false,
    lacksSecondFactor: false,
    kind: 'key',
    credentialHash: hash,
    address: request.ip,
    requestId: request.id,
  };
}
