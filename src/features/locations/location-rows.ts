import Value from 'typebox/value';
import { fieldRefusal, Refusal } from '#core/messages.ts';
import type { Location } from '#core/records/location.ts';
import { type ConfigurationForm, locationConfigurations, locationSecrets, storageKinds } from '#core/records/location-configurations.ts';
import { secretMask } from '#core/records/login-profile.ts';
import { schemaErrorText } from '#core/records/patterned.ts';
import { spaceOfLocations } from '#features/quotas/used-space.ts';
import { inIdOrder } from '#features/records/in-id-order.ts';
import { recordStamps } from '#features/records/record-stamps.ts';
import { configurationRefusal, containsMask, maskMembers, parseConfiguration, unmaskMembers } from '#features/records/secret-members.ts';
import { unsealConfiguration } from '#features/storage-access/open-location.ts';
import type { Ports } from '#ports/ports.ts';
import type { StorageLocation } from '#ports/storages.ts';
import type { Tx } from '#ports/store.ts';
import type { Vault } from '#ports/vault.ts';

/** Returns the records of a tenant's locations, in the order in which `ids` lists them. */
export async function locationRecords(db: Tx, tid: number, ids: readonly number[], vault: Vault): Promise<Location[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('location')
    .selectAll()
    .where('tid', '=', tid)
    .where('id', 'in', [...ids])
    .execute();
  const space = await spaceOfLocations(db, tid, ids);
  const records = rows.map((row) => ({
    id: row.id,
    tid: row.tid,
    name: row.name,
    kind: row.kind,
    configuration: maskMembers(unsealConfiguration(row, vault), locationSecrets),
    maxBytes: row.max_bytes,
    maxFiles: row.max_files,
    usedBytes: space.get(row.id)?.bytes ?? null,
    usedFiles: space.get(row.id)?.files ?? null,
    ...recordStamps(row),
  }));
  return inIdOrder(ids, records);
}

/** Returns a location in the form that storages need, with decrypted secrets. @throws Error if the location does not exist */
export async function readStorageLocation(db: Tx, tid: number, id: number, vault: Vault): Promise<StorageLocation> {
  const row = await db.selectFrom('location').selectAll().where('tid', '=', tid).where('id', '=', id).executeTakeFirstOrThrow();
  return { ...row, configuration: unsealConfiguration(row, vault) };
}

/** Returns the record of a location that the transaction has created or read before. @throws Error if the location does not exist */
export async function locationRecord(db: Tx, tid: number, id: number, vault: Vault): Promise<Location> {
  const [record] = await locationRecords(db, tid, [id], vault);
  if (!record) throw new Error(`location ${id} is missing in the transaction that created or read it`);
  return record;
}

/** Returns the form of a kind's configuration. @throws Refusal (400) if there is no such kind */
function formOf(kind: string): ConfigurationForm {
  const name = storageKinds.find((kindName) => kindName === kind);
  if (!name) throw fieldRefusal('kind', `is not known. Available kinds: ${storageKinds.join(', ')}`);
  return locationConfigurations[name];
}

/** Refuses a masked secret if the server has changed: the stored secret would be sent to another server. @throws Refusal (400) */
function checkServer({ server, secrets }: ConfigurationForm, sent: object, current: string): void {
  const before = current === '' ? {} : parseConfiguration(current);
  const changedMember = server.find((member) => Reflect.get(sent, member) !== Reflect.get(before, member));
  const maskedMember = secrets.find((member) => Reflect.get(sent, member) === secretMask);
  if (changedMember && maskedMember)
    throw configurationRefusal(`${maskedMember} must be the secret itself, not ${secretMask}, because ${changedMember} has changed`);
}

/** In characters. A longer configuration is stored without white space between its members: white space may be most of its text. */
const maxVerbatimLength = 1000;

export interface CheckedLocation {
  /** The configuration to store, secrets decrypted. */
  readonly configuration: string;
  /** Ids and versions of the locations of other tenants, which were checked for overlap; null: locations of this kind may overlap. */
  readonly otherVersions: string | null;
}

/** Kinds whose locations must not overlap a location of another tenant. For the other kinds, each tenant enters its own credentials. */
const exclusiveKinds = ['local'];

/** Selects the locations of other tenants that a location must not overlap. Locations of the same tenant may overlap. */
const otherLocations = (db: Tx, tid: number) =>
  db.selectFrom('location').where('tid', '!=', tid).where('kind', 'in', exclusiveKinds).orderBy('id');

/** Returns ids and versions as one text, to compare them later. */
const versionsOf = (rows: readonly { readonly id: number; readonly version: number }[]) =>
  rows.map(({ id, version }) => `${id}.${version}`).join(' ');

/**
 * Checks that the tenant may have this location.
 * @param current the stored location, its secrets decrypted; null for a new one
 * @throws Refusal 400 at kind or configuration
 */
export async function checkLocation(
  location: Omit<StorageLocation, 'id'>,
  current: StorageLocation | null,
  { store, storages, vault }: Pick<Ports, 'store' | 'storages' | 'vault'>,
): Promise<CheckedLocation> {
  const form = formOf(location.kind);
  const parsed = parseConfiguration(location.configuration);
  const value = unmaskMembers(parsed, locationSecrets, current?.configuration ?? '');
  checkServer(form, parsed, current?.configuration ?? '');
  const [schemaError] = Value.Errors(form.schema, value);
  if (schemaError) throw configurationRefusal(`${schemaErrorText(schemaError)}; for ${location.kind} it is ${form.example}`);
  const isVerbatim = location.configuration.length <= maxVerbatimLength && !containsMask(parsed, locationSecrets);
  const configuration = isVerbatim ? location.configuration : JSON.stringify(value);
  const isExclusive = exclusiveKinds.includes(location.kind);
  const query = otherLocations(store.read, location.tid).select(['id', 'version', 'tid', 'kind', 'configuration']);
  const others = isExclusive ? await query.execute() : [];
  const places = others.map((row) => ({ ...row, configuration: unsealConfiguration(row, vault) }));
  const configurationError = await storages.configurationError({ ...location, configuration }, places);
  if (configurationError) throw configurationRefusal(configurationError);
  return { configuration, otherVersions: isExclusive ? versionsOf(others) : null };
}

/**
 * Checks in the transaction that no location of another tenant has changed since `checkLocation`. Otherwise two concurrent changes could
 * give two tenants overlapping folders.
 * @throws Refusal 409
 */
export async function checkOthersUnchanged(tx: Tx, tid: number, { otherVersions }: CheckedLocation): Promise<void> {
  if (otherVersions === null) return;
  const rows = await otherLocations(tx, tid).select(['id', 'version']).execute();
  if (versionsOf(rows) !== otherVersions) throw new Refusal('locationsChanged');
}
