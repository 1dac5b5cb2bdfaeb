import { parseItemPath } from '#core/item-path.ts';
import { configurationOf, openLocation } from '#features/location-configuration.ts';
import { livingProcesses } from '#features/processes.ts';
import type { Ports } from '#ports/ports.ts';
import { type BegunChange, StorageAway } from '#ports/storage.ts';

const changes: readonly string[] = ['upload', 'createFolder', 'rename', 'delete'] satisfies BegunChange['does'][];
const isChange = (action: string): action is BegunChange['does'] => changes.includes(action);

type Unsettled = Awaited<ReturnType<typeof unsettledChanges>>[number];
const unsettledChanges = ({ store, process }: Pick<Ports, 'store' | 'process'>, living: readonly string[]) =>
  store.read
    .selectFrom('unsettled')
    .innerJoin('audit', (join) => join.onRef('audit.tid', '=', 'unsettled.tid').onRef('audit.id', '=', 'unsettled.audit_id'))
    .innerJoin('location', (join) => join.onRef('location.tid', '=', 'unsettled.tid').onRef('location.id', '=', 'unsettled.location_id'))
    .select([
      'unsettled.audit_id',
      'unsettled.location_id',
      'parent',
      'unsettled.name',
      'new_name',
      'token',
      'audit.action',
      'audit.tid',
      'location.kind',
      'location.configuration',
    ])
    .where(({ or, eb }) => or([eb('unsettled.process', 'not in', living), eb('unsettled.process', '=', process)]))
    .execute();

async function look({ storages, vault }: Pick<Ports, 'storages' | 'vault'>, row: Unsettled): Promise<boolean> {
  const parent = parseItemPath(row.parent);
  if (!parent || !isChange(row.action)) return false;
  const storage = await storages.open({
    id: row.location_id,
    tid: row.tid,
    kind: row.kind,
    configuration: configurationOf(row, vault),
  });
  return storage.settle({ does: row.action, parent, name: row.name, newName: row.new_name, token: row.token });
}

/**
 * Says of everything that was left begun whether it took place, by looking: by a process which is no more, or by this
 * one while the database was away. A location that is away is asked the next time.
 * @param underWay tokens of what this process is at
 */
export async function settleChanges(
  ports: Pick<Ports, 'store' | 'storages' | 'vault' | 'clock' | 'process'>,
  underWay: ReadonlySet<string>,
): Promise<void> {
  const living = await livingProcesses(ports);
  for (const row of await unsettledChanges(ports, living)) {
    if (underWay.has(row.token)) continue;
    const took = await look(ports, row).catch((cause: unknown) => (cause instanceof StorageAway ? null : false));
    if (took === null) continue;
    await ports.store.write(async (tx) => {
      const [gone] = await tx.deleteFrom('unsettled').where('tid', '=', row.tid).where('audit_id', '=', row.audit_id).execute();
      if (Number(gone?.numDeletedRows) === 0) return; // it came to its own end meanwhile
      await tx
        .updateTable('audit')
        .set({ outcome: took ? 'done' : 'failed' })
        .where('tid', '=', row.tid)
        .where('id', '=', row.audit_id)
        .execute();
    });
  }
  // What handed out bytes when its process ended broke off.
  await ports.store.write((tx) =>
    tx
      .updateTable('audit')
      .set({ outcome: 'failed' })
      .where('outcome', '=', 'begun')
      .where('process', 'not in', living)
      .where('id', 'not in', tx.selectFrom('unsettled').select('audit_id'))
      .execute(),
  );
}

/** Clears what is left of uploads and removals at every location that answers; what is under way stays. */
export async function sweepLocations({ store, storages, vault }: Pick<Ports, 'store' | 'storages' | 'vault'>): Promise<void> {
  const underWay = async () => (await store.read.selectFrom('unsettled').select('token').execute()).map(({ token }) => token);
  for (const row of await store.read.selectFrom('location').selectAll().execute()) {
    try {
      const storage = await openLocation(row, { storages, vault });
      await storage.sweep(underWay);
    } catch (cause) {
      if (!(cause instanceof Error)) throw cause; // a location that is away, or not to be written to, is left as it is
    }
  }
}
