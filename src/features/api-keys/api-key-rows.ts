import { parseKeyRole, type Role } from '#core/authorization/role.ts';
import { formatInstant } from '#core/instant.ts';
import type { ApiKey } from '#core/records/api-key.ts';
import { inIdOrder } from '#features/records/in-id-order.ts';
import { sha256 } from '#features/records/sha256.ts';
import type { Tx } from '#ports/store.ts';

/**
 * The prefix of the keys that Postern makes, so that people and secret scanners recognize them. A key from POSTERN_API_KEY need not have
 * it.
 */
export const keyPrefix = 'pst_';
export const keyBits = 256;
const visibleCharacters = 8;

/** Returns the part of a key that is stored in plain text, to identify the key in lists. */
export const firstCharacters = (key: string) => key.slice(0, visibleCharacters);

const formatOrNull = (at: number | null) => (at === null ? null : formatInstant(at));

/** Returns the records of a tenant's keys, in the order of the ids. */
export async function apiKeyRecords(db: Tx, tid: number, ids: readonly number[]): Promise<ApiKey[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('api_key')
    .selectAll()
    .where('tid', '=', tid)
    .where('id', 'in', [...ids])
    .execute();
  const records = rows.map((row) => ({
    id: row.id,
    tid: row.tid,
    name: row.name,
    role: parseKeyRole(row.role),
    firstCharacters: row.first_characters,
    expiryDateTime: formatOrNull(row.expires_at),
    lastUsedDateTime: formatOrNull(row.last_used_at),
    createdOwner: row.created_owner,
    createDateTime: formatInstant(row.created_at),
    etag: `"${row.version}"`,
  }));
  return inIdOrder(ids, records);
}

interface NewKey {
  readonly tid: number;
  readonly name: string;
  readonly role: Role;
  readonly key: string;
  readonly expiresAt: number | null;
  readonly owner: string;
}

/** Stores the hash of a key. @returns its id */
export async function insertKey(tx: Tx, { tid, name, role, key, expiresAt, owner }: NewKey, now: number): Promise<number> {
  const values = {
    tid,
    version: 1,
    name,
    role,
    hash: sha256(key),
    first_characters: firstCharacters(key),
    expires_at: expiresAt,
    last_used_at: null,
    created_owner: owner,
    created_at: now,
  };
  const { id } = await tx.insertInto('api_key').values(values).returning('id').executeTakeFirstOrThrow();
  return id;
}
