import { type LocationHealth, locationsHealth, passes } from '#features/storage-access/location-health.ts';
import type { Ports } from '#ports/ports.ts';

const locationsInterval = 30_000; // ms
const shortestInterval = 1000; // ms between two looks at the disk, however often anybody asks

/** Whether this process can serve. */
export interface Readiness {
  readonly store: boolean;
  readonly data: boolean;
  /** The database's disk is full: files are read, nothing is changed. */
  readonly full: boolean;
  /** Damaged pages were found in the database: a backup is to be restored. */
  readonly damaged: boolean;
  readonly locations: readonly LocationHealth[];
}

/** Answers from the last look, so that nobody can make Postern open every location by asking. */
export interface ReadinessCheck extends Disposable {
  readiness(): Promise<Readiness>;
}

/** @param probe rejects where the disk of POSTERN_DATA does not take what is written */
export function checkReadiness(ports: Pick<Ports, 'store' | 'storages' | 'vault' | 'clock'>, probe: () => Promise<void>): ReadinessCheck {
  let probing: Promise<void> | undefined;
  /** One at a time: on a disk that hangs each would take a thread of the pool for ever. */
  function probeOnce(): Promise<void> {
    probing ??= probe().finally(() => {
      probing = undefined;
    });
    return probing;
  }
  let latest: Promise<Pick<Readiness, 'store' | 'data'>> | undefined;
  let lookedAt = 0;
  async function look() {
    const found = { store: await passes(() => ports.store.check()), data: await passes(probeOnce) };
    if (!found.store || !found.data) latest = undefined; // what is away is looked for again by the next who asks
    return found;
  }
  let locations: Promise<readonly LocationHealth[]> = locationsHealth(ports).catch(() => []);
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    locationsHealth(ports)
      .then((health) => {
        locations = Promise.resolve(health);
      })
      .catch(() => {}) // the database is away: what was last seen of the locations stands
      .finally(() => {
        busy = false;
      });
  }, locationsInterval).unref();

  return {
    async readiness() {
      const now = ports.clock.now();
      if (!latest || Math.abs(now - lookedAt) >= shortestInterval) {
        lookedAt = now;
        latest = look();
      }
      return { ...(await latest), full: ports.store.isFull(), damaged: ports.store.isDamaged(), locations: await locations };
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
