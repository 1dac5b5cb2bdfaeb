import type { Ports } from '#ports/ports.ts';
import { type PendingRow, pendingRows } from './recovered-outcome.ts';

const pageSize = 100; // rows: each may hold long paths

type QueryPorts = Pick<Ports, 'store' | 'process'>;

/** A location with pending changes. */
export interface PendingLocation {
  readonly tid: number;
  readonly location_id: number;
  readonly location_name: string;
  /** The process that its changes belong to. */
  readonly process: string;
}

/**
 * Finds the locations at which changes of this process are pending, or changes of processes that have ended.
 * @param liveProcesses names of the running processes; null: only the changes of this process
 * @returns one row for each location and process
 */
export const findPendingLocations = (
  { store, process }: QueryPorts,
  liveProcesses: readonly string[] | null,
): Promise<readonly PendingLocation[]> =>
  store.read
    .selectFrom(({ selectFrom }) =>
      selectFrom('unsettled')
        .select(['tid', 'location_id', 'process'])
        .distinct()
        .where(({ or, eb }) => or([...(liveProcesses ? [eb('process', 'not in', liveProcesses)] : []), eb('process', '=', process)]))
        .as('pending'),
    )
    .innerJoin('location', (join) => join.onRef('location.tid', '=', 'pending.tid').onRef('location.id', '=', 'pending.location_id'))
    .select(['pending.tid', 'pending.location_id', 'pending.process', 'location.name as location_name'])
    .execute();

/**
 * Yields the pending changes of some processes at a location. Reads them page by page: there may be so many that all of them would not
 * fit in memory.
 */
export async function* pendingChangesAt(
  { store }: Pick<Ports, 'store'>,
  { tid, location_id: locationId }: Pick<PendingLocation, 'tid' | 'location_id'>,
  processes: readonly string[],
): AsyncIterable<PendingRow> {
  let rows: readonly PendingRow[];
  let lastId = 0;
  do {
    rows = await pendingRows(store.read)
      .where('unsettled.tid', '=', tid)
      .where('unsettled.location_id', '=', locationId)
      .where('unsettled.process', 'in', processes)
      .where('unsettled.audit_id', '>', lastId)
      .orderBy('unsettled.audit_id')
      .limit(pageSize)
      .execute();
    yield* rows;
    lastId = rows.at(-1)?.audit_id ?? lastId;
  } while (rows.length === pageSize);
}
