import { waitAtMost } from '#core/time-limit.ts';
import { countJobs } from '#features/jobs/job-queue.ts';
import { type LocationHealth, locationsHealth, passesCheck } from '#features/storage-access/location-health.ts';
import type { Ports } from '#ports/ports.ts';

const locationsInterval = 30_000; // ms
const maxFirstWait = 2000; // ms that a health request waits for the first check of the locations
const minInterval = 1000; // ms between two checks of the database and the disk while they succeed

/** Whether this process can serve requests. */
export interface Readiness {
  /** Whether the database responds. */
  readonly store: boolean;
  /** Whether the disk of POSTERN_DATA works: a test write succeeds, or fails only because the disk is full. */
  readonly data: boolean;
  /** Whether the disk of the database is full. Then files can be read, but nothing can be changed. */
  readonly full: boolean;
  /** Whether the database has damaged pages. Then the operator must restore a backup. */
  readonly damaged: boolean;
  /** Empty until the locations were checked for the first time. */
  readonly locations: readonly LocationHealth[];
  /** Numbers of waiting jobs and of jobs that were given up, of all kinds. */
  readonly jobs: { readonly waiting: number; readonly failed: number };
}

async function jobTotals(ports: Pick<Ports, 'store'>): Promise<Readiness['jobs']> {
  const counts = await countJobs(ports).catch(() => []); // `store` already reports that the database is unavailable
  const sum = (of: 'waiting' | 'failed') => counts.reduce((total, count) => total + count[of], 0);
  return { waiting: sum('waiting'), failed: sum('failed') };
}

/** Reports readiness from cached checks, so that frequent requests cannot make Postern open every location each time. */
export interface ReadinessCheck extends Disposable {
  readiness(): Promise<Readiness>;
}

/**
 * Starts to check the locations at an interval, and returns the readiness check.
 * @param probe writes to the disk of POSTERN_DATA; rejects if that fails for another reason than a full disk
 */
export function readinessCheck(ports: Pick<Ports, 'store' | 'storages' | 'vault' | 'clock'>, probe: () => Promise<void>): ReadinessCheck {
  let probing: Promise<void> | undefined;
  /** Runs one probe at a time: on a disk that hangs, each probe would block a thread of the pool forever. */
  function probeOnce(): Promise<void> {
    probing ??= probe().finally(() => {
      probing = undefined;
    });
    return probing;
  }
  let latest: Promise<Pick<Readiness, 'store' | 'data' | 'jobs'>> | undefined;
  let checkedAt = 0;
  async function checkNow() {
    const result = {
      store: await passesCheck(() => ports.store.check()),
      data: await passesCheck(probeOnce),
      jobs: await jobTotals(ports),
    };
    if (!result.store || !result.data) latest = undefined; // after a failure, the next request checks again
    return result;
  }
  let locations: readonly LocationHealth[] = [];
  async function checkLocations(): Promise<void> {
    locations = await locationsHealth(ports).catch(() => locations); // the database is unavailable: keeps the last result
  }
  let firstCheck: Promise<unknown> | undefined;
  let isChecking = false;
  const timer = setInterval(() => {
    if (isChecking) return;
    isChecking = true;
    void checkLocations().finally(() => {
      isChecking = false;
    });
  }, locationsInterval).unref();

  return {
    async readiness() {
      const now = ports.clock.now();
      if (!latest || Math.abs(now - checkedAt) >= minInterval) {
        checkedAt = now;
        latest = checkNow();
      }
      firstCheck ??= waitAtMost(checkLocations(), maxFirstWait);
      await firstCheck;
      return { ...(await latest), full: ports.store.isFull(), damaged: ports.store.isDamaged(), locations };
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
