import type { Ports } from '#ports/ports.ts';
import { openLocation } from './open-location.ts';

const patience = 1000; // ms; a mount that hangs is told as away
const atOnce = 250; // locations: 20 ms of the event loop; those of a mount that hangs wait a second together

/** Does a location answer? */
export interface LocationHealth {
  readonly id: number;
  readonly tid: number;
  readonly name: string;
  readonly kind: string;
  readonly answers: boolean;
}

/** Runs a check and says only whether it passed, and in time. */
export async function passes(check: () => Promise<unknown>): Promise<boolean> {
  const late = new Promise<never>((_, reject) => setTimeout(reject, patience, new Error('no answer')).unref());
  return Promise.race([check(), late]).then(
    () => true,
    () => false,
  );
}

type HealthPorts = Pick<Ports, 'store' | 'storages' | 'vault'>;

/** Some locations, in the order of their ids. @param after the id of the last one that was read before */
function someLocations({ store }: HealthPorts, after: number, tid: number | undefined) {
  const next = store.read.selectFrom('location').selectAll().where('id', '>', after).orderBy('id').limit(atOnce);
  return (tid === undefined ? next : next.where('tid', '=', tid)).execute();
}

/** Asks every location, or those of one tenant, whether it answers: a few at a time, so that thousands hold up nobody. */
export async function locationsHealth(ports: HealthPorts, tid?: number): Promise<readonly LocationHealth[]> {
  const found: LocationHealth[] = [];
  for (let rows = await someLocations(ports, 0, tid); rows.length > 0; rows = await someLocations(ports, found.at(-1)?.id ?? 0, tid)) {
    const healthOf = async (row: (typeof rows)[number]) => ({
      id: row.id,
      tid: row.tid,
      name: row.name,
      kind: row.kind,
      answers: await passes(async () => (await openLocation(row, ports)).check()),
    });
    found.push(...(await Promise.all(rows.map(healthOf))));
    await new Promise(setImmediate);
  }
  return found;
}
