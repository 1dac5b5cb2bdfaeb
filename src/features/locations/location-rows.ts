import Value from 'typebox/value';
import { fieldRefusal, Refusal } from '#core/messages.ts';
import { availableLocationKinds, LocalConfiguration, type Location, locationKinds, locationSecrets } from '#core/records/location.ts';
import { schemaErrorText } from '#core/records/patterned.ts';
import { inIdOrder } from '#features/records/in-id-order.ts';
import { stampsOf } from '#features/records/record-stamps.ts';
import { configurationRefusal, holdsMask, maskMembers, parseConfiguration, unmaskMembers } from '#features/records/secret-members.ts';
import { openConfiguration } from '#features/storage-access/open-location.ts';
import type { Ports } from '#ports/ports.ts';
import type { StorageLocation } from '#ports/storages.ts';
import type { Tx } from '#ports/store.ts';
import type { Vault } from '#ports/vault.ts';

/** The records of a tenant's locations, in the order of the ids. */
export async function locationRecords(db: Tx, tid: number, ids: readonly number[], vault: Vault): Promise<Location[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('location')
    .selectAll()
    .where('tid', '=', tid)
    .where('id', 'in', [...ids])
    .execute();
  const records = rows.map((row) => ({
    id: row.id,
    tid: row.tid,
    name: row.name,
    kind: row.kind,
    configuration: maskMembers(openConfiguration(row, vault), locationSecrets),
    ...stampsOf(row),
  }));
  return inIdOrder(ids, records);
}

/** A location that is there, its secrets open. */
export async function placeOf(db: Tx, tid: number, id: number, vault: Vault): Promise<StorageLocation> {
  const row = await db.selectFrom('location').selectAll().where('tid', '=', tid).where('id', '=', id).executeTakeFirstOrThrow();
  return { ...row, configuration: openConfiguration(row, vault) };
}

/** A record that is there: the change has just made it, or is about it. */
export async function locationRecord(db: Tx, tid: number, id: number, vault: Vault): Promise<Location> {
  const [record] = await locationRecords(db, tid, [id], vault);
  if (!record) throw new Error(`location ${id} vanished within its own transaction`);
  return record;
}

function checkShape(kind: string, configuration: object): void {
  if (!availableLocationKinds.includes(kind)) {
    const known: readonly string[] = locationKinds;
    const detail = known.includes(kind) ? 'is not built yet' : 'is not known';
    throw fieldRefusal('kind', `${detail}; there is ${availableLocationKinds.join(', ')}`);
  }
  const [fault] = Value.Errors(LocalConfiguration, configuration);
  if (fault) throw configurationRefusal(`${schemaErrorText(fault)}; for local it is { "folder": "/absolute/path" }`);
}

/** Characters of a configuration that is stored as it was sent. A longer one may be mostly spaces. */
const longestVerbatim = 1000;

/** What a check of a location saw. */
export interface CheckedLocation {
  /** The configuration to keep, secrets open. */
  readonly configuration: string;
  /** The locations of other tenants, which it must not overlap, with their versions. */
  readonly others: string;
}

/** Locations of other tenants: a tenant's own may overlap. */
const otherLocations = (db: Tx, tid: number) => db.selectFrom('location').where('tid', '!=', tid).orderBy('id');

/** Their ids and versions, to compare them later. */
const versionsOf = (rows: readonly { readonly id: number; readonly version: number }[]) =>
  rows.map(({ id, version }) => `${id}.${version}`).join(' ');

/**
 * Is this a location that the tenant may have?
 * @param present the location as it is; null: it is to be added
 * @throws 400 at kind or configuration
 */
export async function checkLocation(
  wanted: Omit<StorageLocation, 'id'>,
  present: StorageLocation | null,
  { store, storages, vault }: Pick<Ports, 'store' | 'storages' | 'vault'>,
): Promise<CheckedLocation> {
  const sent = parseConfiguration(wanted.configuration);
  const value = unmaskMembers(sent, locationSecrets, present?.configuration ?? '');
  checkShape(wanted.kind, value);
  const isVerbatim = wanted.configuration.length <= longestVerbatim && !holdsMask(sent, locationSecrets);
  const configuration = isVerbatim ? wanted.configuration : JSON.stringify(value);
  const others = await otherLocations(store.read, wanted.tid).select(['id', 'version', 'tid', 'kind', 'configuration']).execute();
  const places = others.map((row) => ({ ...row, configuration: openConfiguration(row, vault) }));
  const fault = await storages.configurationError({ ...wanted, configuration }, places);
  if (fault) throw configurationRefusal(fault);
  return { configuration, others: versionsOf(others) };
}

/** Asked again in the transaction: two tenants never come to have overlapping folders. @throws 409 */
export async function checkOthersUnchanged(tx: Tx, tid: number, { others }: CheckedLocation): Promise<void> {
  const present = await otherLocations(tx, tid).select(['id', 'version']).execute();
  if (versionsOf(present) !== others) throw new Refusal('locationsChanged');
}
