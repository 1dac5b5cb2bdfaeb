import { fold } from '#core/fold.ts';
import { environmentKeyName } from '#core/records/api-key.ts';
import { firstTenant } from '#core/records/tenant.ts';
import { insertKey, keyBits, keyPrefix } from '#features/api-keys/api-key-rows.ts';
import { roleOfKey } from '#features/api-keys/find-api-key.ts';
import { sha256 } from '#features/records/sha256.ts';
import { unfinishedCopy } from '#features/secrets/unfinished-copy.ts';
import { openConfiguration, sealConfiguration } from '#features/storage-access/open-location.ts';
import { insertTenant } from '#features/tenants/tenants.ts';
import type { Ports } from '#ports/ports.ts';
import type { Store, Tx } from '#ports/store.ts';

const owner = 'postern';
/** Folder of the location `local`, within POSTERN_DATA. */
const ownFolder = 'files';
/** Name of the key that the first start makes where none is set. */
export const firstKeyName = 'first';

/** What a start needs from outside. */
export interface FirstStart {
  /** POSTERN_API_KEY. */
  readonly apiKey: string | null;
  /** The key of a new installation, which its operator can already read in a file; null: there is to be none. */
  readonly firstKey: string | null;
  /** The folder `files` of POSTERN_DATA: locations within it are stored relative to it, so that they move with it. */
  readonly files: string;
}

/** POSTERN_API_KEY replaces its forerunner at each start; left unset, the forerunner ends. */
async function setEnvironmentKey(tx: Tx, key: string | null, now: number): Promise<void> {
  const present = await tx
    .selectFrom('api_key')
    .select(['id', 'hash'])
    .where('tid', '=', firstTenant)
    .where('name', '=', environmentKeyName)
    .execute();
  if (key !== null && present.some(({ hash }) => hash === sha256(key))) return;
  await tx.deleteFrom('api_key').where('tid', '=', firstTenant).where('name', '=', environmentKeyName).execute();
  if (key !== null) await insertKey(tx, { tid: firstTenant, name: environmentKeyName, role: 'admin', key, expiresAt: null, owner }, now);
}

async function insertLocal(tx: Tx, tid: number, { vault }: Pick<Ports, 'vault'>, now: number): Promise<void> {
  await tx
    .insertInto('location')
    .values({
      tid,
      version: 1,
      name: 'local',
      kind: 'local',
      configuration: sealConfiguration(JSON.stringify({ folder: ownFolder }), vault),
      search_text: fold('local'),
      created_owner: owner,
      updated_owner: owner,
      created_at: now,
      updated_at: now,
    })
    .execute();
}

/** The configuration of a location; null where its row is damaged, which readiness reports. */
function configurationIn(row: { readonly configuration: string }, vault: Ports['vault']): { readonly folder?: string } | null {
  try {
    return JSON.parse(openConfiguration(row, vault));
  } catch {
    return null;
  }
}

/** Earlier versions stored the absolute path: data that was moved, or restored elsewhere, served the old files. */
async function makeRelative(tx: Tx, files: string, { vault }: Pick<Ports, 'vault'>): Promise<void> {
  const rows = await tx
    .selectFrom('location')
    .select(['id', 'configuration'])
    .where('tid', '=', firstTenant)
    .where('kind', '=', 'local')
    .execute();
  for (const row of rows) {
    const value = configurationIn(row, vault);
    const folder = value?.folder;
    if (folder !== files && !folder?.startsWith(`${files}/`)) continue;
    const configuration = sealConfiguration(JSON.stringify({ ...value, folder: ownFolder + folder.slice(files.length) }), vault);
    await tx.updateTable('location').set({ configuration }).where('tid', '=', firstTenant).where('id', '=', row.id).execute();
  }
}

/** Has nothing been made in this database yet? */
export const isNew = async ({ store }: Pick<Ports, 'store'>) =>
  (await store.read.selectFrom('tenant').select('id').limit(1).executeTakeFirst()) === undefined;

/** Has nothing been sealed in this database yet? */
export const holdsNoSecrets = async (store: Pick<Store, 'read'>) =>
  (await store.read.selectFrom('secret_key').select('fingerprint').executeTakeFirst()) === undefined;

/** @throws where the secrets of this database were sealed with another key: nothing could be read, and much be lost */
export async function checkSecretKey({ store, vault }: Pick<Ports, 'store' | 'vault'>): Promise<void> {
  const { fingerprint } = vault;
  const known = await store.write(async (tx) => {
    const row = await tx.selectFrom('secret_key').selectAll().executeTakeFirst();
    if (!row) await tx.insertInto('secret_key').values({ fingerprint }).execute();
    return row?.fingerprint ?? fingerprint;
  }, 'job');
  if (known === unfinishedCopy) throw new Error(`${unfinishedCopy}: run npm run restore or npm run move-store again`);
  if (known !== fingerprint)
    throw new Error('POSTERN_SECRET_KEY, or the file secret-key, is not the key that the secrets of this installation were sealed with');
}

/** Returns whether the database knows a key that has not ended. */
export const isLivingKey = async ({ store, clock }: Pick<Ports, 'store' | 'clock'>, key: string) =>
  (await roleOfKey(store.read, sha256(key), clock.now())) !== null;

/** A new admin key. */
export const newKey = ({ random }: Pick<Ports, 'random'>) => keyPrefix + random.token(keyBits);

/**
 * Makes what a new installation begins with: tenant 1, its default login profile, the location `local` and the first
 * key; at every start sets the key of the environment.
 */
export async function prepare(
  ports: Pick<Ports, 'store' | 'clock' | 'random' | 'vault'>,
  { files, apiKey, firstKey }: FirstStart,
): Promise<void> {
  await ports.store.write(async (tx) => {
    const now = ports.clock.now();
    if (!(await tx.selectFrom('tenant').select('id').limit(1).executeTakeFirst())) {
      // Its number is said: of several that begin at once, those that were taken back have used up numbers.
      await insertTenant(tx, 'First tenant', owner, ports, firstTenant);
      await ports.store.dialect.setLastIds(tx, { tenant: firstTenant });
      await insertLocal(tx, firstTenant, ports, now);
      if (firstKey !== null)
        await insertKey(tx, { tid: firstTenant, name: firstKeyName, role: 'admin', key: firstKey, expiresAt: null, owner }, now);
    }
    await setEnvironmentKey(tx, apiKey, now);
    await makeRelative(tx, files, ports);
  }, 'job');
}
