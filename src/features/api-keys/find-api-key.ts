import { parseKeyRole, type Role } from '#core/authorization/role.ts';
import { isRecent } from '#core/is-recent.ts';
import { preparedQuery } from '#features/records/prepared-query.ts';
import { sha256 } from '#features/records/sha256.ts';
import type { Store, Tx } from '#ports/store.ts';

const tokenLife = 3_600_000; // ms
const useInterval = 60_000; // ms between two updates of last_used_at

/** A key that has not expired, found by the key itself or by one of its tokens. */
export interface ValidKey {
  readonly keyId: number;
  /** Hash of the key, or of the token that was sent in its place. */
  readonly hash: string;
  readonly tid: number;
  readonly name: string;
  readonly role: Role;
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
  /** Whether the request sent a token of the key. A token cannot get another token (POST /api/v1/login). */
  readonly isFromToken: boolean;
}

const columns = ['api_key.id', 'api_key.tid', 'api_key.name', 'api_key.role', 'api_key.expires_at', 'api_key.last_used_at'] as const;

const keyByHash = preparedQuery<
  { hash: string },
  { id: number; tid: number; name: string; role: string; expires_at: number | null; last_used_at: number | null }
>((db, p) => db.selectFrom('api_key').select(columns).where('hash', '=', p('hash')));

/** Returns the key with this hash, or the key whose token has this hash; else null. Does not check whether key and token have expired. */
async function findKeyByHash(db: Tx, hash: string) {
  const [byKey] = await keyByHash(db, { hash });
  if (byKey) return { ...byKey, ends_at: byKey.expires_at, byToken: false };
  const byToken = await db
    .selectFrom('api_token')
    .innerJoin('api_key', 'api_key.id', 'api_token.key_id')
    .select([...columns, 'api_token.expires_at as ends_at'])
    .where('api_token.hash', '=', hash)
    .executeTakeFirst();
  return byToken ? { ...byToken, byToken: true } : null;
}

/** Returns whether key or token has expired. Also a token whose end is too far ahead: it was issued while the clock was wrong. */
const isExpired = (key: { ends_at: number | null; expires_at: number | null; byToken: boolean }, now: number) =>
  [key.ends_at, key.expires_at].some((end) => end !== null && end <= now) ||
  (key.byToken && key.ends_at !== null && key.ends_at > now + 2 * tokenLife);

/** Returns the role of the key that has this hash, or whose token has it. Returns null if the key or token is missing or has expired. */
export async function findKeyRole(db: Tx, hash: string, now: number): Promise<Role | null> {
  const row = await findKeyByHash(db, hash);
  return row && !isExpired(row, now) ? parseKeyRole(row.role) : null;
}

/** Returns the key for a Bearer secret, which is a key or a token of one. Returns null if it is neither or has expired. */
export async function findValidKey(store: Store, secret: string, now: number): Promise<ValidKey | null> {
  const row = await store.cachedUntilChange(`key ${secret}`, async () => {
    const hash = sha256(secret);
    const key = await findKeyByHash(store.read, hash);
    return key && { ...key, hash };
  });
  if (!row || isExpired(row, now)) return null;
  return {
    keyId: row.id,
    hash: row.hash,
    tid: row.tid,
    name: row.name,
    role: parseKeyRole(row.role),
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    isFromToken: row.byToken,
  };
}

/** Records that a key was used, unless a use within the last minute is recorded. Does not wait for the database. */
export function recordKeyUse(store: Store, key: ValidKey, now: number): void {
  if (key.lastUsedAt !== null && isRecent(key.lastUsedAt, useInterval, now)) return;
  const update = (tx: Tx) => tx.updateTable('api_key').set({ last_used_at: now }).where('id', '=', key.keyId).execute();
  void store.write(update, { tenant: key.tid }).catch(() => {}); // the next use records it
}

/** Stores a token for a key. It is valid for an hour, but never longer than the key. @returns when it expires, ms since the epoch */
export async function issueToken(store: Store, key: ValidKey, token: string, now: number): Promise<number> {
  const expires_at = Math.min(now + tokenLife, key.expiresAt ?? Number.POSITIVE_INFINITY);
  const values = { hash: sha256(token), key_id: key.keyId, expires_at };
  await store.write((tx) => tx.insertInto('api_token').values(values).execute(), { tenant: key.tid });
  return expires_at;
}
