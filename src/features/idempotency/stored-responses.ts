import { type MessageName, Refusal } from '#core/messages.ts';
import type { Store, Tx } from '#ports/store.ts';
import type { Vault } from '#ports/vault.ts';

/** How long a stored response is replayed to duplicate requests; ms. */
export const responseLifetime = 24 * 3_600_000;
const maxKeyLength = 255;
const purpose = 'idempotent answer';

/** A request with an Idempotency-Key: the client may send it again with the same key. */
export interface IdempotentRequest {
  readonly tid: number;
  /** Identifies the API key, the operator, or the visitor at a link. Different callers may use the same Idempotency-Key. */
  readonly caller: string;
  readonly key: string;
  /**
   * A MAC of method, path, query and body: from a plain hash, a password in the body could be guessed. A request with the same
   * key and another fingerprint is refused.
   */
  readonly fingerprint: string;
}

export interface StoredResponse {
  readonly status: number;
  readonly body: string;
}

/** Returns the idempotent request for an Idempotency-Key header, or null without the header. @throws Refusal (400) */
export function idempotentRequestOf(
  header: string | string[] | undefined,
  { tid, caller }: Pick<IdempotentRequest, 'tid' | 'caller'>,
  request: { method: string; url: string; body: unknown },
  vault: Vault,
): IdempotentRequest | null {
  if (header === undefined) return null;
  const key = String(header);
  if (key === '' || key.length > maxKeyLength)
    throw new Refusal('fieldInvalid', 'Idempotency-Key must be 1 to 255 characters.', {
      fieldErrors: [{ field: 'Idempotency-Key', detail: 'must be 1 to 255 characters' }],
    });
  const body = JSON.stringify(request.body ?? null);
  const fingerprint = vault.mac('idempotent request', `${request.method}\n${request.url}\n${body}`);
  return { tid, caller, key, fingerprint };
}

/** The idempotent requests that this process is running, each as the JSON of its caller and key. */
export type RunningRequests = Set<string>;

/**
 * Returns the stored response to an earlier request with the same key, or null.
 * @throws Refusal (409) if the key was used for a different request, or the earlier request is still running
 */
export async function findStoredResponse(db: Tx, request: IdempotentRequest, vault: Vault, now: number): Promise<StoredResponse | null> {
  const row = await db
    .selectFrom('idempotency')
    .selectAll()
    .where('tid', '=', request.tid)
    .where('caller', '=', request.caller)
    .where('key', '=', request.key)
    .executeTakeFirst();
  // The key of a pending change never expires: the clock may have been set forward.
  if (!row || (row.audit_id === null && row.created_at <= now - responseLifetime)) return null;
  if (row.fingerprint !== request.fingerprint) throw new Refusal('idempotencyReused');
  if (row.audit_id !== null) throw new Refusal('idempotencyRunning');
  return { status: row.status, body: vault.open(purpose, row.answer) };
}

/** Another process has completed a duplicate request in the meantime. */
class DuplicateCompleted extends Error {
  readonly response: StoredResponse;
  constructor(response: StoredResponse) {
    super('a duplicate request was completed in the meantime');
    this.response = response;
  }
}

/**
 * Checks, at the beginning of a change's transaction, that no process has completed the same request.
 * @throws DuplicateCompleted, which `runOnce` turns into the stored response; Refusal (409) as `findStoredResponse`
 */
export async function checkNotCompleted(tx: Tx, request: IdempotentRequest | null, vault: Vault, now: number): Promise<void> {
  const response = request && (await findStoredResponse(tx, request, vault, now));
  if (response) throw new DuplicateCompleted(response);
}

/**
 * Stores the response, in the transaction of the change.
 * @param pendingAuditId id of the audit entry of a pending change: the response is confirmed or deleted with the change's outcome
 * @throws DuplicateCompleted; Refusal (409)
 */
export async function storeResponse(
  tx: Tx,
  request: IdempotentRequest,
  response: StoredResponse,
  { vault, now, pendingAuditId = null }: { readonly vault: Vault; readonly now: number; readonly pendingAuditId?: number | null },
): Promise<void> {
  await checkNotCompleted(tx, request, vault, now);
  await tx
    .deleteFrom('idempotency')
    .where('tid', '=', request.tid)
    .where('caller', '=', request.caller)
    .where('key', '=', request.key)
    .where('created_at', '<=', now - responseLifetime)
    .execute();
  const values = {
    tid: request.tid,
    caller: request.caller,
    key: request.key,
    fingerprint: request.fingerprint,
    status: response.status,
    answer: vault.seal(purpose, response.body),
    created_at: now,
    audit_id: pendingAuditId,
  };
  await tx.insertInto('idempotency').values(values).execute();
}

/** Refusals that a duplicate request gets when the first request has already made the change. */
const conflictMessages: readonly string[] = [
  'itemAbsent',
  'itemExists',
  'recordUnknown',
  'versionStale',
  'nameTaken',
  'viewIdTaken',
] satisfies MessageName[];

/**
 * Runs a change once for all duplicates of a request.
 * @param run makes the change and stores its response with `storeResponse`
 * @returns the result of `run`, or the stored response to the first request
 * @throws Refusal (409) while a duplicate is running, or if the key was used for a different request; what `run` throws
 */
export async function runOnce<T>(
  request: IdempotentRequest | null,
  running: RunningRequests,
  { store, vault }: { store: Store; vault: Vault },
  now: number,
  run: () => Promise<T>,
): Promise<T | { readonly replayed: StoredResponse }> {
  if (!request) return run();
  const name = JSON.stringify([request.caller, request.key]);
  if (running.has(name)) throw new Refusal('idempotencyRunning');
  running.add(name);
  try {
    const response = await findStoredResponse(store.read, request, vault, now);
    if (!response) return await run();
    await store.sync(); // the stored response may not be on disk yet
    return { replayed: response };
  } catch (cause) {
    if (cause instanceof DuplicateCompleted) return { replayed: cause.response };
    if (!(cause instanceof Refusal) || !conflictMessages.includes(cause.messageName)) throw cause;
    // The cause of the refusal may be that another process has made the same change.
    const response = await findStoredResponse(store.read, request, vault, now);
    if (!response) throw cause;
    return { replayed: response };
  } finally {
    running.delete(name);
  }
}
