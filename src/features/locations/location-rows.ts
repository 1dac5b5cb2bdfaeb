import Value from 'typebox/value';
import { fieldRefusal } from '#core/messages.ts';
import { builtKinds, LocalConfiguration, type Location, locationKinds } from '#core/records/location.ts';
import { inOrder } from '#features/in-order.ts';
import { configurationOf } from '#features/location-configuration.ts';
import { stampsOf } from '#features/record-stamps.ts';
import type { Ports } from '#ports/ports.ts';
import type { Place } from '#ports/storages.ts';
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
    configuration: configurationOf(row, vault),
    ...stampsOf(row),
  }));
  return inOrder(ids, records);
}

/** A record that is there: the change has just made it, or is about it. */
export async function locationRecord(db: Tx, tid: number, id: number, vault: Vault): Promise<Location> {
  const [record] = await locationRecords(db, tid, [id], vault);
  if (!record) throw new Error(`location ${id} vanished within its own transaction`);
  return record;
}

function checkShape(kind: string, configuration: string): void {
  if (!builtKinds.includes(kind)) {
    const known: readonly string[] = locationKinds;
    const detail = known.includes(kind) ? 'is not built yet' : 'is not known';
    throw fieldRefusal('kind', `${detail}; there is ${builtKinds.join(', ')}`);
  }
  let value: unknown;
  try {
    value = JSON.parse(configuration);
  } catch {
    throw fieldRefusal('configuration', 'must be a JSON object in a string');
  }
  const [fault] = Value.Errors(LocalConfiguration, value);
  if (fault)
    throw fieldRefusal(
      'configuration',
      `${fault.instancePath || 'the object'} ${fault.message}; for local it is { "folder": "/absolute/path" }`,
    );
}

/** Is this a location that the tenant may have? @throws 400 at kind or configuration */
export async function checkLocation(
  wanted: Omit<Place, 'id'>,
  id: number | null,
  { store, storages, vault }: Pick<Ports, 'store' | 'storages' | 'vault'>,
): Promise<void> {
  checkShape(wanted.kind, wanted.configuration);
  const rows = await store.read.selectFrom('location').select(['id', 'tid', 'kind', 'configuration']).execute();
  const others = rows.filter((row) => row.id !== id).map((row) => ({ ...row, configuration: configurationOf(row, vault) }));
  const fault = await storages.fault(wanted, others);
  if (fault) throw fieldRefusal('configuration', fault);
}
