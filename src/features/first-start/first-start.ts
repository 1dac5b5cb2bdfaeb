import { fold } from '#core/fold.ts';
import { rootPath } from '#core/item-path.ts';
import { environmentKeyName } from '#core/records/api-key.ts';
import { firstTenant } from '#core/records/tenant.ts';
import { insertKey, keyBits, keyPrefix } from '#features/api-keys/api-key-rows.ts';
import { findKeyRole } from '#features/api-keys/find-api-key.ts';
import { addCountedFolder } from '#features/quotas/counted-folders.ts';
import { sha256 } from '#features/records/sha256.ts';
import { unfinishedCopyMark } from '#features/secrets/unfinished-copy.ts';
import { sealConfiguration, unsealConfiguration } from '#features/storage-access/open-location.ts';
import { insertTenant } from '#features/tenants/tenants.ts';
import type { Ports } from '#ports/ports.ts';
import type { Store, Tx } from '#ports/store.ts';

const owner = 'postern';
/** The folder of the location `local`, relative to POSTERN_DATA. */
const localFolder = 'files';
/** The name of the key that the first start creates if POSTERN_API_KEY is not set. */
export const firstKeyName = 'first';

/** What a start needs from the environment and the data folder. */
export interface StartValues {
  readonly apiKey: string | null;
  /** The key of a new installation; null: create no key. It is already stored in a file, so that a crash cannot lose it. */
  readonly firstKey: string | null;
  /** The folder `files` of POSTERN_DATA. Paths within it are made relative, so that the data can be moved (see `makeFoldersRelative`). */
  readonly files: string;
}

/**
 * Stores POSTERN_API_KEY as a key, and deletes the key of its previous value. Without POSTERN_API_KEY, only deletes that key.
 * @throws Error if another key has this value. An admin key of tenant 1 that never expires is accepted: it has the same rights
 */
async function setEnvironmentKey(tx: Tx, key: string | null, now: number): Promise<void> {
  const sameKey = key === null ? undefined : await tx.selectFrom('api_key').selectAll().where('hash', '=', sha256(key)).executeTakeFirst();
  const isOfFirstTenant = sameKey?.tid === firstTenant;
  if (isOfFirstTenant && sameKey.name === environmentKeyName) return;
  await tx.deleteFrom('api_key').where('tid', '=', firstTenant).where('name', '=', environmentKeyName).execute();
  if (key === null || (isOfFirstTenant && sameKey.role === 'admin' && sameKey.expires_at === null)) return;
  if (sameKey)
    throw new Error(
      `POSTERN_API_KEY has the value of the API key ${sameKey.id} of tenant ${sameKey.tid}. This is allowed only for an admin key of tenant 1 that never expires: set another value`,
    );
  await insertKey(tx, { tid: firstTenant, name: environmentKeyName, role: 'admin', key, expiresAt: null, owner }, now);
}

async function insertLocalLocation(tx: Tx, tid: number, { vault }: Pick<Ports, 'vault'>, now: number): Promise<void> {
  const { id } = await tx
    .insertInto('location')
    .values({
      tid,
      version: 1,
      name: 'local',
      kind: 'local',
      configuration: sealConfiguration(JSON.stringify({ folder: localFolder }), vault),
      search_text: fold('local'),
      created_owner: owner,
      updated_owner: owner,
      created_at: now,
      updated_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await addCountedFolder(tx, { tid, locationId: id, path: rootPath });
}

/** Returns the configuration of a location, or null if it cannot be read. Readiness reports such a location. */
function readConfiguration(
  row: { readonly configuration: string },
  vault: Ports['vault'],
): { readonly path?: string; readonly folder?: string } | null {
  try {
    return JSON.parse(unsealConfiguration(row, vault));
  } catch {
    return null;
  }
}

/**
 * Makes the absolute paths of tenant 1's local locations relative if they are within `files`. With an absolute path, an installation that
 * was moved or restored elsewhere would serve the files of the old folder.
 */
async function makeFoldersRelative(tx: Tx, files: string, { vault }: Pick<Ports, 'vault'>): Promise<void> {
  const rows = await tx
    .selectFrom('location')
    .select(['id', 'configuration'])
    .where('tid', '=', firstTenant)
    .where('kind', '=', 'local')
    .execute();
  for (const row of rows) {
    const value = readConfiguration(row, vault);
    const member = value?.path === undefined ? 'folder' : 'path'; // `folder` is the former name of `path`
    const folder = value?.[member];
    if (folder !== files && !folder?.startsWith(`${files}/`)) continue;
    const configuration = sealConfiguration(JSON.stringify({ ...value, [member]: localFolder + folder.slice(files.length) }), vault);
    await tx.updateTable('location').set({ configuration }).where('tid', '=', firstTenant).where('id', '=', row.id).execute();
  }
}

/** Returns whether the database is new: it has no tenant. */
export const isNewDatabase = async ({ store }: Pick<Ports, 'store'>) =>
  (await store.read.selectFrom('tenant').select('id').limit(1).executeTakeFirst()) === undefined;

export const isUnfinishedCopy = async (store: Pick<Store, 'read'>) =>
  (await store.read.selectFrom('secret_key').select('fingerprint').where('fingerprint', '=', unfinishedCopyMark).executeTakeFirst()) !==
  undefined;

/** Returns whether the database has no fingerprint of a secret key. Then it contains no encrypted secrets. */
export const hasNoSecrets = async (store: Pick<Store, 'read'>) =>
  (await store.read.selectFrom('secret_key').select('fingerprint').executeTakeFirst()) === undefined;

/**
 * Checks that the secrets of this database were encrypted with the present key, and stores the key's fingerprint in a new database.
 * @throws Error if the key differs, or if the database is an unfinished copy
 */
export async function checkSecretKey({ store, vault }: Pick<Ports, 'store' | 'vault'>): Promise<void> {
  const { fingerprint } = vault;
  const storedFingerprint = await store.write(async (tx) => {
    const row = await tx.selectFrom('secret_key').selectAll().executeTakeFirst();
    if (!row) await tx.insertInto('secret_key').values({ fingerprint }).execute();
    return row?.fingerprint ?? fingerprint;
  }, 'job');
  if (storedFingerprint === unfinishedCopyMark)
    throw new Error('a copy into this database did not finish: run npm run restore or npm run move-store again');
  if (storedFingerprint !== fingerprint)
    throw new Error(
      'the secrets of this installation were encrypted with another key: set POSTERN_SECRET_KEY, or restore the file secret-key',
    );
}

/** Returns whether an API key exists and has not expired. */
export const isValidKey = async ({ store, clock }: Pick<Ports, 'store' | 'clock'>, key: string) =>
  (await findKeyRole(store.read, sha256(key), clock.now())) !== null;

export const newApiKey = ({ random }: Pick<Ports, 'random'>) => keyPrefix + random.token(keyBits);

/**
 * Prepares the database at every start. In a new one, creates tenant 1, its default login profile, the location `local` and the key
 * `firstKey`, if it is set. Then sets the key of POSTERN_API_KEY, and calls `makeFoldersRelative`.
 */
export async function prepareDatabase(
  ports: Pick<Ports, 'store' | 'clock' | 'random' | 'vault'>,
  { files, apiKey, firstKey }: StartValues,
): Promise<void> {
  await ports.store.write(async (tx) => {
    const now = ports.clock.now();
    if (!(await tx.selectFrom('tenant').select('id').limit(1).executeTakeFirst())) {
      // Sets the id explicitly: if several processes start together, inserts that were rolled back may have used up the id 1.
      await insertTenant(tx, 'First tenant', owner, ports, firstTenant);
      await ports.store.dialect.setLastIds(tx, { tenant: firstTenant });
      await insertLocalLocation(tx, firstTenant, ports, now);
      if (firstKey !== null)
        await insertKey(tx, { tid: firstTenant, name: firstKeyName, role: 'admin', key: firstKey, expiresAt: null, owner }, now);
    }
    await setEnvironmentKey(tx, apiKey, now);
    await makeFoldersRelative(tx, files, ports);
  }, 'job');
}
