import { parseKeyRole, type Role } from '#core/policy/role.ts';
import { preparedQuery } from '#features/records/prepared-query.ts';
import { sha256 } from '#features/records/sha256.ts';
import type { Store, Tx } from '#ports/store.ts';

const tokenLife = 3_600_000; // ms
const useNotedEvery = 60_000; // ms

/** A living key, found by itself or by a token of it. */
export interface LivingKey {
  readonly keyId: number;
  /** Of the key, or of the token that stands for it. */
  readonly hash: string;
  readonly tid: number;
  readonly name: string;
  readonly role: Role;
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
  /** Was it found by a token, which signs nobody in? */
  readonly byToken: boolean;
}

const columns = ['api_key.id', 'api_key.tid', 'api_key.name', 'api_key.role', 'api_key.expires_at', 'api_key.last_used_at'] as const;

const keyByHash = preparedQuery<
  { hash: string },
  { id: number; tid: number; name: string; role: string; expires_at: number | null; last_used_at: number | null }
>((db, p) => db.selectFrom('api_key').select(columns).where('hash', '=', p('hash')));

/** The key of a hash, or of a token of that hash; living or not. */
async function keyOfHash(db: Tx, hash: string) {
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

const hasEnded = (key: { ends_at: number | null; expires_at: number | null }, now: number) =>
  [key.ends_at, key.expires_at].some((end) => end !== null && end <= now);

/** The role of the living key of a hash; null: it has ended. */
export async function roleOfKey(db: Tx, hash: string, now: number): Promise<Role | null> {
  const row = await keyOfHash(db, hash);
  return row && !hasEnded(row, now) ? parseKeyRole(row.role) : null;
}

/** The living key that a Bearer secret is, or is a token of; null: neither. */
export async function findKey(store: Store, secret: string, now: number): Promise<LivingKey | null> {
  const row = await store.cachedUntilChange(`key ${secret}`, async () => {
    const hash = sha256(secret);
    const found = await keyOfHash(store.read, hash);
    return found && { ...found, hash };
  });
  if (!row || hasEnded(row, now)) return null;
  return {
    keyId: row.id,
    hash: row.hash,
    tid: row.tid,
    name: row.name,
    role: parseKeyRole(row.role),
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    byToken: row.byToken,
  };
}

/** Notes that a key was used, at most once a minute and without anybody waiting for it. */
export function recordKeyUse(store: Store, key: LivingKey, now: number): void {
  if (key.lastUsedAt !== null && now - key.lastUsedAt < useNotedEvery) return;
  const note = (tx: Tx) => tx.updateTable('api_key').set({ last_used_at: now }).where('id', '=', key.keyId).execute();
  void store.write(note, { tenant: key.tid }).catch(() => {}); // the next use notes it
}

/** A token for a key: good for an hour, and never longer than the key. */
export async function issueToken(store: Store, key: LivingKey, token: string, now: number): Promise<number> {
  const expires_at = Math.min(now + tokenLife, key.expiresAt ?? Number.POSITIVE_INFINITY);
  const values = { hash: sha256(token), key_id: key.keyId, expires_at };
  await store.write((tx) => tx.insertInto('api_token').values(values).execute(), { tenant: key.tid });
  return expires_at;
}
