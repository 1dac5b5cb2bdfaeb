import { type Expression, expressionBuilder, type SqlBool, sql } from 'kysely';
import { type ItemPath, joinPaths, parseSegments, rootPath } from '#core/item-path.ts';
import { findStorageLocation, openLocation } from '#features/storage-access/open-location.ts';
import type { Ports } from '#ports/ports.ts';
import type { PendingFileChange, Storage } from '#ports/storage.ts';
import { ItemBusy } from '#ports/storage-errors.ts';
import type { Database } from '#ports/tables.ts';
import { keepStarted, maxAge, type Phase, recordPhase, renewStart } from './change-phases.ts';
import { pause, succeedsInTime } from './pause.ts';

// A service renames a folder item by item, and recovery looks for what a change has left at its old path. So while a change of an item is
// made, no folder above it is renamed or deleted, at any location of the tenant that contains the folder.

/** Between two looks at the pending changes. */
const waits = { first: 20, longest: 500, maxWait: 10_000 };
const maxResponseTime = 2000; // ms; after this time, the location of another change counts as not responding
const maxLocations = 20; // with overlapping changes; if there are so many, one of them is assumed not to be gone

/** Returns the name of an item, and its new name if it gets one. */
export const namesOf = ({ name, newName = '' }: { readonly name: string; readonly newName?: string }): readonly string[] =>
  newName === '' ? [name] : [name, newName];

/** A change that is about to begin, under the locks of its names. It is recorded as pending already. */
export interface StartingChange {
  readonly tid: number;
  readonly locationId: number;
  readonly parent: ItemPath;
  /** The name of the item, and its new name. */
  readonly names: readonly string[];
  readonly action: PendingFileChange['action'];
  readonly token: string;
}

/** A change that recovery is about to complete. */
type RecoveredChange = Pick<StartingChange, 'tid' | 'token' | 'action'>;

/** When and where a change has begun. */
interface BegunChange {
  readonly place: string;
  readonly new_place: string;
  readonly started: number;
}

type OverlapPorts = Pick<Ports, 'store' | 'storages' | 'vault' | 'clock'>;
type PlacedStorage = Pick<Storage, 'folderKey'>;

const busy = () => new ItemBusy('another change of a folder above, or of an item below, is not complete');
const isMove = ({ action }: Pick<StartingChange, 'action'>) => action === 'rename' || action === 'delete';

/** Returns where an item is at the service, and where it will be, each with a slash at its end. */
async function placesOf(storage: PlacedStorage, { parent, names }: StartingChange): Promise<readonly string[]> {
  const paths = names.map((name) => joinPaths(parent, parseSegments([name]) ?? rootPath));
  const keys = await Promise.all(paths.map((path) => storage.folderKey(path)));
  return keys.map((key) => `${key.replace(/\/+$/, '')}/`);
}

/** Returns the places of all folders above a place. */
function placesAbove(place: string): string[] {
  const above: string[] = [];
  for (let end = place.indexOf('/'); end >= 0 && end < place.length - 1; end = place.indexOf('/', end + 1))
    above.push(place.slice(0, end + 1));
  return above;
}

const row = expressionBuilder<Database, 'unsettled' | 'audit'>();

/** Condition that a change renames or deletes an item at one of these places, or renames one to such a place. */
const movesOneOf = (places: readonly string[]) =>
  row.and([
    row('audit.action', 'in', ['rename', 'delete']),
    row.or([row('unsettled.place', 'in', places), row('unsettled.new_place', 'in', places)]),
  ]);

/** Condition that a change concerns an item below a place. */
const isBelow = (place: string) =>
  row.or(
    (['unsettled.place', 'unsettled.new_place'] as const).map((column) =>
      row.and([sql<boolean>`substr(${sql.ref(column)}, 1, length(${place})) = ${place}`, row(column, '!=', place)]),
    ),
  );

type LocationState = 'responds' | 'silent' | 'gone';

/** @returns `gone`: the folder of the location certainly does not exist @throws StorageUnavailable if the location does not respond */
async function stateOfFolder(storage: Pick<Storage, 'stat' | 'check'>): Promise<LocationState> {
  if ((await storage.stat(rootPath)) === null) return 'gone';
  await storage.check(); // an object storage sends no request for the entry of the root
  return 'responds';
}

/** Returns the state of another location. `gone`: its changes can never be completed. @throws StorageUnavailable */
async function stateOf(ports: OverlapPorts, tid: number, id: number): Promise<LocationState> {
  const location = await findStorageLocation(ports.store.read, { tid, id });
  return location ? stateOfFolder(await openLocation(location, ports)) : 'gone';
}

/** Returns whether pending changes at another location may still be completed. @param newest ms since the epoch: when the last one began */
async function mayBeCompleted(ports: OverlapPorts, tid: number, id: number, newest: number): Promise<boolean> {
  const silent = pause(maxResponseTime).then((): LocationState => 'silent');
  const state = await Promise.race([stateOf(ports, tid, id).catch((): LocationState => 'silent'), silent]);
  return state === 'responds' || (state === 'silent' && newest > ports.clock.now() - maxAge);
}

/** Returns a query for the other pending changes of a tenant. */
const otherChanges = ({ store }: Pick<Ports, 'store'>, { tid, token }: Pick<StartingChange, 'tid' | 'token'>) =>
  store.read
    .selectFrom('unsettled')
    .innerJoin('audit', (join) => join.onRef('audit.tid', '=', 'unsettled.tid').onRef('audit.id', '=', 'unsettled.audit_id'))
    .where('unsettled.tid', '=', tid)
    .where('unsettled.token', '!=', token);

/** Returns whether a condition is true of another change of the tenant that has begun and may still be completed. */
async function hasOther(ports: OverlapPorts, change: StartingChange, condition: Expression<SqlBool>): Promise<boolean> {
  const { tid, locationId } = change;
  const others = await otherChanges(ports, change)
    .select(({ fn }) => ['unsettled.location_id', fn.max<number | string>('unsettled.started').as('newest')])
    .groupBy('unsettled.location_id')
    .where('unsettled.started', '>', 0)
    .where(condition)
    .limit(maxLocations)
    .execute();
  if (others.length === maxLocations || others.some(({ location_id: id }) => id === locationId)) return true;
  const states = await Promise.all(others.map(({ location_id: id, newest }) => mayBeCompleted(ports, tid, id, Number(newest))));
  return states.includes(true);
}

const hasMoveAbove = (ports: OverlapPorts, change: StartingChange, places: readonly string[]) =>
  hasOther(ports, change, movesOneOf(places.flatMap(placesAbove)));

const hasChangeBelow = (ports: OverlapPorts, change: StartingChange, places: readonly string[]) =>
  hasOther(ports, change, row.or(places.map(isBelow)));

/**
 * Returns whether an overlapping change has begun after a change that recovery is about to complete, and is being made. Those that only
 * wait do not count: they wait for this change, perhaps again and again.
 */
async function hasBegunSince(
  ports: Pick<Ports, 'store' | 'clock'>,
  change: RecoveredChange,
  { place, new_place, started }: BegunChange,
): Promise<boolean> {
  const places = [place, new_place].filter(Boolean);
  const later = await otherChanges(ports, change)
    .select('unsettled.token')
    .where('unsettled.started', '>', Math.max(started, ports.clock.now() - maxAge))
    .where('unsettled.running', '=', 1)
    .where(row.or([movesOneOf(places.flatMap(placesAbove)), ...(isMove(change) ? places.map(isBelow) : [])]))
    .limit(1)
    .executeTakeFirst();
  return later !== undefined;
}

/**
 * Records that the recovery of a change at a service begins, and, until disposal, that it goes on. Does nothing if the change had not begun.
 * @throws StorageUnavailable if the location does not respond: then the change need not block others for longer
 * @throws ItemBusy if an overlapping change has begun since, while the location did not respond
 */
export async function startAgain(
  ports: Pick<Ports, 'store' | 'clock'>,
  storage: Pick<Storage, 'stat' | 'check'>,
  change: RecoveredChange,
): Promise<Disposable> {
  const { tid, token } = change;
  await stateOfFolder(storage);
  const begun = await ports.store.read
    .selectFrom('unsettled')
    .select(['place', 'new_place', 'started'])
    .where('tid', '=', tid)
    .where('token', '=', token)
    .executeTakeFirst();
  if (!begun || begun.place === '') return { [Symbol.dispose]: () => {} };
  const since = { ...begun, started: Number(begun.started) };
  if (await hasBegunSince(ports, change, since)) throw busy();
  await renewStart(ports, change);
  if (await hasBegunSince(ports, change, since)) throw busy(); // it has not seen that this change begins again
  return keepStarted(ports, change);
}

/**
 * Waits until a change may begin at a service, and records that it begins. An upload waits for a rename or deletion of a folder above. A
 * rename or deletion waits for changes of items below; those that begin meanwhile see this one. Each change looks again after each phase
 * was recorded, so two that begin at the same moment see each other. A change that waits for the lock of its names has not begun, so nobody
 * waits for it.
 * @returns what must be disposed when the change has been made
 * @throws ItemBusy if a folder above is being renamed or deleted, and the change is no upload; or after `waits.maxWait`
 */
export async function beginChange(ports: OverlapPorts, storage: PlacedStorage, change: StartingChange): Promise<Disposable> {
  const places = await placesOf(storage, change);
  let phase: Phase | null = null; // null: a phase of an earlier attempt may be recorded
  /** @returns whether the phase is new: then the change must look again */
  const enter = async (next: Phase): Promise<boolean> => {
    if (phase === next) return false;
    await recordPhase(ports, change, places, next);
    phase = next;
    return true;
  };
  const hasNoOverlap = async (): Promise<boolean> => {
    if (await hasMoveAbove(ports, change, places)) {
      if (change.action !== 'upload') throw busy();
      await enter('unknown');
      return false;
    }
    if (isMove(change)) {
      if (phase !== 'running' && (await enter('waiting'))) return hasNoOverlap();
      if (await hasChangeBelow(ports, change, places)) {
        await enter('waiting');
        return false;
      }
    }
    return (await enter('running')) ? hasNoOverlap() : true;
  };
  if (!(await succeedsInTime(hasNoOverlap, waits))) throw busy();
  return keepStarted(ports, change);
}
