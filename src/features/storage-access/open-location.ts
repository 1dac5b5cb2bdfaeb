import type { Ports } from '#ports/ports.ts';
import type { Storage } from '#ports/storage.ts';
import type { StorageLocation } from '#ports/storages.ts';
import type { Vault } from '#ports/vault.ts';

const purpose = 'location';

/** By the row that holds it: a row that the store keeps is opened once. */
const opened = new WeakMap<object, string>();

/** Where a location lies, as its row keeps it. */
export const sealConfiguration = (configuration: string, vault: Vault): string => vault.seal(purpose, configuration);

/** Where a location lies. @param row what holds it sealed */
export function openConfiguration(row: { readonly configuration: string }, vault: Vault): string {
  const known = opened.get(row);
  if (known !== undefined) return known;
  const configuration = vault.open(purpose, row.configuration);
  opened.set(row, configuration);
  return configuration;
}

/** What lies at a location. @param row the location, its configuration sealed; @throws StorageAway */
export const openLocation = (row: StorageLocation, { storages, vault }: Pick<Ports, 'storages' | 'vault'>): Promise<Storage> =>
  storages.open({ id: row.id, tid: row.tid, kind: row.kind, configuration: openConfiguration(row, vault) });
