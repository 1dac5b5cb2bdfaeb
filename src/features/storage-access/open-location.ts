import type { Ports } from '#ports/ports.ts';
import type { Storage } from '#ports/storage.ts';
import type { StorageLocation } from '#ports/storages.ts';
import type { Tx } from '#ports/store.ts';
import { openStoredSecret, type Vault } from '#ports/vault.ts';

const purpose = 'location';
/** Replaces a configuration that was lost. Requests to the location's shares get 503 until an operator enters the configuration again. */
export const lostConfiguration = '{}';

/** Decrypted configurations by row: a row that the store has cached is decrypted once. */
const decryptedConfigurations = new WeakMap<object, string>();

/** Returns the encrypted configuration of a location, as its row stores it. */
export const sealConfiguration = (configuration: string, vault: Vault): string => vault.seal(purpose, configuration);

/** Returns the decrypted configuration of a location; `lostConfiguration` if it cannot be decrypted. */
export function unsealConfiguration(row: { readonly configuration: string }, vault: Vault): string {
  const cachedConfiguration = decryptedConfigurations.get(row);
  if (cachedConfiguration !== undefined) return cachedConfiguration;
  const configuration = openStoredSecret(vault, purpose, row.configuration) || lostConfiguration;
  decryptedConfigurations.set(row, configuration);
  return configuration;
}

/** Opens the storage of a location. @param row the location with its encrypted configuration. @throws StorageUnavailable */
export const openLocation = (row: StorageLocation, { storages, vault }: Pick<Ports, 'storages' | 'vault'>): Promise<Storage> =>
  storages.open({ id: row.id, tid: row.tid, kind: row.kind, configuration: unsealConfiguration(row, vault) });

/** Returns the row of a location that `openLocation` needs; undefined: the location was deleted. */
export const findStorageLocation = (db: Tx, { tid, id }: Pick<StorageLocation, 'tid' | 'id'>): Promise<StorageLocation | undefined> =>
  db.selectFrom('location').select(['tid', 'id', 'kind', 'configuration']).where('tid', '=', tid).where('id', '=', id).executeTakeFirst();
