import type { FastifyBaseLogger } from 'fastify';
import { auditRetention } from '#features/audit/audit-retention.ts';
import { deleteExpiredRows } from '#features/jobs/delete-expired-rows.ts';
import {
  checkSameDatabase,
  DatabaseExchanged,
  livingFor,
  reportAlive,
  reportEnded,
  reportInterval,
} from '#features/processes/living-processes.ts';
import { exchangeUnknownLinks } from '#features/rate-limits/unknown-links.ts';
import { recoverInterruptedChanges, sweepLocations } from '#features/visits/files/recover-changes.ts';
import type { Ports } from '#ports/ports.ts';
import type { UnknownLinks } from './http/visitor/unknown-links.ts';

const maintenanceEvery = 600_000; // ms
const exchangeEvery = 1000; // ms
const mostBetween = 3 * reportInterval; // ms

interface Jobs {
  readonly ports: Ports;
  readonly log: FastifyBaseLogger;
  /** Keys of the changes that this process has under way. */
  readonly underWay: Set<string>;
  readonly unknownLinks: UnknownLinks;
  /** Which database this process has started on. */
  readonly database: string;
  /** Called where another one answers in its place: the process must end. */
  readonly exchanged: () => void;
}

/** Recovers what was left begun, and names the locations where that failed. @throws StoreAway, StoreFull */
export async function recoverChanges(
  ports: Ports,
  underWay: Set<string>,
  log: FastifyBaseLogger,
  options: Parameters<typeof recoverInterruptedChanges>[2] = {},
): Promise<void> {
  const failures = await recoverInterruptedChanges(ports, underWay, options);
  if (failures.size === 0) return;
  const places = [...failures].map(([name, reason]) => `location ${name}: ${reason}`).join('; ');
  log.warn(`Some changes of files that were cut off could not be looked at (${places}). It is tried again in some seconds.`);
}

/** Clears what earlier processes left in the locations, and names those where visitors can change nothing. */
export async function clearLocations(ports: Ports, log: FastifyBaseLogger): Promise<void> {
  try {
    for (const [name, reason] of await sweepLocations(ports)) log.warn(`Visitors cannot change files at location ${name}: ${reason}.`);
  } catch {
    log.warn('What changes left in the locations could not be cleared. The next start tries again.');
  }
}

/** Starts the jobs that run at intervals. Disposal removes this process from the list of living ones. */
export function startScheduledJobs({ ports, log, underWay, unknownLinks, database, exchanged }: Jobs): AsyncDisposable {
  const retention = auditRetention(
    ports,
    () => performance.now(),
    (line) => log.warn(line),
  );
  const maintain = () =>
    deleteExpiredRows(ports, retention).catch(() =>
      log.error('Expired sessions, repeated answers and old audit entries could not be deleted. It is tried again in ten minutes.'),
    );
  // What a process that was killed left begun is settled by those that live; so is what a full disk let nobody record.
  let lastSaid = performance.now();
  let othersKnownFrom = lastSaid;
  const showLife = () =>
    checkSameDatabase(ports, database)
      .then(() => reportAlive(ports))
      .then(() => {
        const now = performance.now();
        // The database was away, or this process stood still: the others get their time to say that they live.
        if (now - lastSaid > mostBetween) othersKnownFrom = now + livingFor;
        lastSaid = now;
        return recoverChanges(ports, underWay, log, { ownOnly: now < othersKnownFrom });
      })
      .catch((cause: unknown) => {
        if (cause instanceof DatabaseExchanged) exchanged();
        else log.warn('The database did not answer this process in time. It is tried again in some seconds.');
      });
  const exchange = () =>
    unknownLinks
      .exchange((since, tried) => exchangeUnknownLinks(ports, since, tried))
      .catch(() => log.warn('The counts of unknown links could not be shared with the other processes: each counts alone until then.'));
  const timers = [
    setInterval(() => void maintain(), maintenanceEvery),
    setInterval(() => void showLife(), reportInterval),
    ...(ports.store.shared ? [setInterval(() => void exchange(), exchangeEvery)] : []),
  ];
  for (const timer of timers) timer.unref();
  return {
    async [Symbol.asyncDispose]() {
      for (const timer of timers) clearInterval(timer);
      await reportEnded(ports).catch(() => {}); // those that live notice within a minute
    },
  };
}
