import type { FastifyBaseLogger } from 'fastify';
import { auditRetention } from '#features/audit/audit-retention.ts';
import { deleteExpiredRows } from '#features/jobs/delete-expired-rows.ts';
import {
  checkSameDatabase,
  DatabaseReplaced,
  processTimeout,
  reportAlive,
  reportEnded,
  reportInterval,
} from '#features/processes/living-processes.ts';
import { exchangeUnknownLinks } from '#features/rate-limits/unknown-links.ts';
import { recoverInterruptedChanges, sweepLocations } from '#features/visits/files/recover-changes.ts';
import type { Ports } from '#ports/ports.ts';
import type { UnknownLinks } from './http/visitor/unknown-links.ts';

const maintenanceInterval = 600_000; // ms
const exchangeInterval = 1000; // ms
const maxReportGap = 3 * reportInterval; // ms

interface Jobs {
  readonly ports: Ports;
  readonly log: FastifyBaseLogger;
  /** Tokens of the changes that this process is making or recovering. */
  readonly underWay: Set<string>;
  readonly unknownLinks: UnknownLinks;
  /** Identity of the database that this process started with. */
  readonly database: string;
  /** Called where it is now another database: the process must end. */
  readonly onExchange: () => void;
}

/** Recovers interrupted changes, and logs the locations where that failed. @throws StoreUnavailable, StoreFull */
export async function recoverChanges(
  ports: Ports,
  underWay: Set<string>,
  log: FastifyBaseLogger,
  options: Parameters<typeof recoverInterruptedChanges>[2] = {},
): Promise<void> {
  const failures = await recoverInterruptedChanges(ports, underWay, options);
  if (failures.size === 0) return;
  const reasons = [...failures].map(([name, reason]) => `location ${name}: ${reason}`).join('; ');
  log.warn(`Cannot recover some interrupted changes of files (${reasons}). Postern tries again in a few seconds.`);
}

/** Deletes what earlier processes left in the locations, and logs those where visitors cannot change files. */
export async function clearLocations(ports: Ports, log: FastifyBaseLogger): Promise<void> {
  try {
    for (const [name, reason] of await sweepLocations(ports)) log.warn(`Visitors cannot change files at location ${name}: ${reason}.`);
  } catch {
    log.warn('Cannot delete temporary files in the locations. Postern tries again at the next start.');
  }
}

/** Starts the jobs that run at intervals. Disposal stops them and removes this process from the list of running ones. */
export function startScheduledJobs({ ports, log, underWay, unknownLinks, database, onExchange }: Jobs): AsyncDisposable {
  const retention = auditRetention(
    ports,
    () => performance.now(),
    (line) => log.warn(line),
  );
  const maintain = () =>
    deleteExpiredRows(ports, retention).catch(() =>
      log.error('Cannot delete expired sessions, stored responses and old audit entries. Postern tries again in ten minutes.'),
    );
  // Running processes recover the changes of killed ones, and changes that could not be recorded on a full disk.
  let lastReportAt = performance.now();
  let othersReliableFrom = lastReportAt;
  const reportAndRecover = () =>
    checkSameDatabase(ports, database)
      .then(() => reportAlive(ports))
      .then(() => {
        const now = performance.now();
        // The database was unreachable, or this process was suspended: give the other processes time to report again.
        if (now - lastReportAt > maxReportGap) othersReliableFrom = now + processTimeout;
        lastReportAt = now;
        return recoverChanges(ports, underWay, log, { ownOnly: now < othersReliableFrom });
      })
      .catch((cause: unknown) => {
        if (cause instanceof DatabaseReplaced) onExchange();
        else log.warn('The database did not answer in time. Postern tries again in a few seconds.');
      });
  const exchange = () =>
    unknownLinks
      .exchange((since, tried) => exchangeUnknownLinks(ports, since, tried))
      .catch(() =>
        log.warn('Cannot share the counts of unknown links with the other processes. Until it works again, each process counts alone.'),
      );
  const timers = [
    setInterval(() => void maintain(), maintenanceInterval),
    setInterval(() => void reportAndRecover(), reportInterval),
    ...(ports.store.isShared ? [setInterval(() => void exchange(), exchangeInterval)] : []),
  ];
  for (const timer of timers) timer.unref();
  return {
    async [Symbol.asyncDispose]() {
      for (const timer of timers) clearInterval(timer);
      await reportEnded(ports).catch(() => {}); // the others notice within a minute
    },
  };
}
