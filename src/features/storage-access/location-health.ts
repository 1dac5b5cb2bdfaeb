import { waitAtMost } from '#core/time-limit.ts';
import type { Ports } from '#ports/ports.ts';
import type { StorageLocation } from '#ports/storages.ts';
import { openLocation } from './open-location.ts';

const timeout = 1000; // ms: a mount that hangs counts as unavailable
const serviceTimeout = 5000; // ms: the first request to a service must open a connection
const batchSize = 250; // locations; a batch takes 20 ms of the event loop. If a mount hangs, the locations on it time out together

/** The health of a location: whether its storage responds. */
export interface LocationHealth {
  readonly id: number;
  readonly tid: number;
  readonly name: string;
  readonly kind: string;
  readonly answers: boolean;
}

/** Runs a check. @param limit ms @returns whether it passed within the limit */
export async function passesCheck(check: () => Promise<unknown>, limit = timeout): Promise<boolean> {
  return waitAtMost(check(), limit).then(
    ({ late }) => !late,
    () => false,
  );
}

type HealthPorts = Pick<Ports, 'store' | 'storages' | 'vault'>;

async function isAvailable(row: StorageLocation, ports: HealthPorts): Promise<boolean> {
  const opening = openLocation(row, ports);
  if (!(await passesCheck(() => opening))) return false;
  const storage = await opening;
  const isService = storage.traits.openAhead > 0; // only at a service are files opened in advance
  return passesCheck(() => storage.check(), isService ? serviceTimeout : timeout);
}

/** Returns the next batch of locations, in the order of their ids. @param after the last id of the previous batch, 0 for the first */
function selectLocations({ store }: HealthPorts, after: number, tid: number | undefined) {
  const next = store.read.selectFrom('location').selectAll().where('id', '>', after).orderBy('id').limit(batchSize);
  return (tid === undefined ? next : next.where('tid', '=', tid)).execute();
}

/** Checks all locations, or those of one tenant. Works in batches, so that thousands of locations do not block the event loop. */
export async function locationsHealth(ports: HealthPorts, tid?: number): Promise<readonly LocationHealth[]> {
  const results: LocationHealth[] = [];
  for (
    let rows = await selectLocations(ports, 0, tid);
    rows.length > 0;
    rows = await selectLocations(ports, results.at(-1)?.id ?? 0, tid)
  ) {
    const healthOf = async (row: (typeof rows)[number]) => ({
      id: row.id,
      tid: row.tid,
      name: row.name,
      kind: row.kind,
      answers: await isAvailable(row, ports),
    });
    results.push(...(await Promise.all(rows.map(healthOf))));
    await new Promise(setImmediate);
  }
  return results;
}
