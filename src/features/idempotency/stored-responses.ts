import { type MessageName, Refusal } from '#core/messages.ts';
import type { Store, Tx } from '#ports/store.ts';
import type { Vault } from '#ports/vault.ts';

/** How long a repeated request is answered as before (decisions.md); ms. */
export const responsesStoredFor = 24 * 3_600_000;
const longestKey = 255;
const purpose = 'idempotent answer';

/** A request that says by its key that it may come twice. */
export interface IdempotentRequest {
  readonly tid: number;
  /** Who sends it: keys of different callers are different keys. */
  readonly caller: string;
  readonly key: string;
  /** Method, path, query and body, hashed under a key, since a body may hold a password: another request under the same key is refused. */
  readonly fingerprint: string;
}

/** An answer as it was given. */
export interface StoredResponse {
  readonly status: number;
  readonly body: string;
}

/** The twin that a request is, or null where it carries no key. @throws 400 */
export function idempotentRequestOf(
  header: string | string[] | undefined,
  { tid, caller }: Pick<IdempotentRequest, 'tid' | 'caller'>,
  request: { method: string; url: string; body: unknown },
  vault: Vault,
): IdempotentRequest | null {
  if (header === undefined) return null;
  const key = String(header);
  if (key === '' || key.length > longestKey)
    throw new Refusal('fieldInvalid', 'Idempotency-Key must be 1 to 255 characters.', {
      fieldErrors: [{ field: 'Idempotency-Key', detail: 'must be 1 to 255 characters' }],
    });
  const body = JSON.stringify(request.body ?? null);
  const fingerprint = vault.mac('idempotent request', `${request.method}\n${request.url}\n${body}`);
  return { tid, caller, key, fingerprint };
}

/** Requests with a key that are under way in this process. */
export type RunningRequests = Set<string>;

/** The answer to the first of the twins, or null. @throws 409 where the key was used for another request, or the first is under way */
export async function findStoredResponse(db: Tx, twin: IdempotentRequest, vault: Vault, now: number): Promise<StoredResponse | null> {
  const row = await db
    .selectFrom('idempotency')
    .selectAll()
    .where('tid', '=', twin.tid)
    .where('caller', '=', twin.caller)
    .where('key', '=', twin.key)
    .executeTakeFirst();
  // While the change is under way the key does not expire: a clock may be set ahead.
  if (!row || (row.audit_id === null && row.created_at <= now - responsesStoredFor)) return null;
  if (row.fingerprint !== twin.fingerprint) throw new Refusal('idempotencyReused');
  if (row.audit_id !== null) throw new Refusal('idempotencyRunning');
  return { status: row.status, body: vault.open(purpose, row.answer) };
}

/** A twin was answered by another process meanwhile. */
class AnsweredMeanwhile extends Error {
  readonly kept: StoredResponse;
  constructor(kept: StoredResponse) {
    super('a twin was answered meanwhile');
    this.kept = kept;
  }
}

/** Asked first in the transaction of a change: nothing is done twice, by whichever process. @throws what `once` answers */
export async function checkNotAnswered(tx: Tx, twin: IdempotentRequest | null, vault: Vault, now: number): Promise<void> {
  const kept = twin && (await findStoredResponse(tx, twin, vault, now));
  if (kept) throw new AnsweredMeanwhile(kept);
}

/**
 * Keeps the answer, in the transaction of the change.
 * @param underWay audit entry of a change that has only begun: its answer is confirmed or forgotten with its outcome
 */
export async function storeResponse(
  tx: Tx,
  twin: IdempotentRequest,
  answer: StoredResponse,
  { vault, now, underWay = null }: { readonly vault: Vault; readonly now: number; readonly underWay?: number | null },
): Promise<void> {
  await checkNotAnswered(tx, twin, vault, now);
  await tx
    .deleteFrom('idempotency')
    .where('tid', '=', twin.tid)
    .where('caller', '=', twin.caller)
    .where('key', '=', twin.key)
    .where('created_at', '<=', now - responsesStoredFor)
    .execute();
  const values = {
    tid: twin.tid,
    caller: twin.caller,
    key: twin.key,
    fingerprint: twin.fingerprint,
    status: answer.status,
    answer: vault.seal(purpose, answer.body),
    created_at: now,
    audit_id: underWay,
  };
  await tx.insertInto('idempotency').values(values).execute();
}

/** Refusals of what somebody has changed before. */
const changedBefore: readonly string[] = [
  'itemAbsent',
  'itemExists',
  'recordUnknown',
  'versionStale',
  'nameTaken',
  'viewIdTaken',
] satisfies MessageName[];

/**
 * Runs a change once for all its twins.
 * @param run does the change and keeps its answer by keepAnswer
 * @throws 409 while a twin runs
 */
export async function runOnce<T>(
  twin: IdempotentRequest | null,
  running: RunningRequests,
  { store, vault }: { store: Store; vault: Vault },
  now: number,
  run: () => Promise<T>,
): Promise<T | { readonly replayed: StoredResponse }> {
  if (!twin) return run();
  const name = JSON.stringify([twin.caller, twin.key]);
  if (running.has(name)) throw new Refusal('idempotencyRunning');
  running.add(name);
  try {
    const kept = await findStoredResponse(store.read, twin, vault, now);
    if (!kept) return await run();
    await store.durable(); // what was seen may not be on disk yet
    return { replayed: kept };
  } catch (cause) {
    if (cause instanceof AnsweredMeanwhile) return { replayed: cause.kept };
    if (!(cause instanceof Refusal) || !changedBefore.includes(cause.messageName)) throw cause;
    // It may have been refused because a twin had taken place at another process.
    const kept = await findStoredResponse(store.read, twin, vault, now);
    if (!kept) throw cause;
    return { replayed: kept };
  } finally {
    running.delete(name);
  }
}
