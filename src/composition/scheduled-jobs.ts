import type { FastifyBaseLogger } from 'fastify';
import { auditRetention } from '#features/audit/audit-retention.ts';
import { runIfClockIsRight } from '#features/jobs/clock-check.ts';
import { deleteExpiredRows } from '#features/jobs/delete-expired-rows.ts';
import { defaultPollInterval, type JobKind, ScheduledJobs } from '#features/jobs/job-runner.ts';
import { mailJobs } from '#features/mail/mail-jobs.ts';
import {
  checkSameDatabase,
  DatabaseReplaced,
  processTimeout,
  removeEndedProcesses,
  reportAlive,
  reportInterval,
  reportProcessEnd,
} from '#features/processes/running-processes.ts';
import { countDueFolders } from '#features/quotas/count-due-folders.ts';
import { hasDueFolders } from '#features/quotas/due-folders.ts';
import { addUnknownLinks, countUnknownLinks } from '#features/rate-limits/unknown-links.ts';
import { emailCodeMails } from '#features/visits/codes/sealed-code-mail.ts';
import { BusyLocations } from '#features/visits/files/busy-locations.ts';
import { FailingLocations } from '#features/visits/files/failing-locations.ts';
import { releaseForgottenNames } from '#features/visits/files/held-names.ts';
import { recoverInterruptedChanges } from '#features/visits/files/recover-changes.ts';
import { sweepLocations } from '#features/visits/files/sweep-locations.ts';
import { endExpiredUploads } from '#features/visits/resumable-uploads/end-expired-uploads.ts';
import { releaseUploads } from '#features/visits/resumable-uploads/upload-claims.ts';
import type { UploadWriters } from '#features/visits/resumable-uploads/upload-writers.ts';
import type { UnknownLinks } from '#http/visitor/unknown-links.ts';
import type { Ports } from '#ports/ports.ts';

const minute = 60_000; // ms
const exchangeInterval = 1000; // ms
const sweepDelay = 3000; // ms: the first requests after a start do not wait for the sweep
const maxReportGap = 3 * reportInterval; // ms
const firstReports = 1.2 * reportInterval; // ms after the start: by then, every running process has reported, even after a database outage

/** Returns a job that runs at intervals, even after failures. @param every ms */
const recurring = (name: string, every: number, run: JobKind['run']): JobKind => ({
  ...{ name, every, run, concurrency: 1, lease: minute, pauses: [minute, 10 * minute], maxAttempts: null },
});

interface Jobs {
  readonly ports: Ports;
  readonly log: FastifyBaseLogger;
  /** Tokens of the changes that this process is making or recovering. */
  readonly runningChanges: Set<string>;
  /** The locations at which this process is recovering changes. */
  readonly busyLocations: BusyLocations;
  readonly unknownLinks: UnknownLinks;
  readonly uploadWriters: UploadWriters;
  /** Id of the database that this process started with. */
  readonly database: string;
  /** Called when the database was replaced after the start: the process must end. */
  readonly onReplacedDatabase: () => void;
  /** ms between two searches for due jobs, and between two runs of the job that plans mail. */
  readonly jobInterval: number | undefined;
}

/** Recovers interrupted changes, and logs each new reason why recovery fails at a location. @throws StoreUnavailable, StoreFull */
export async function recoverChanges(
  ports: Ports,
  runningChanges: Set<string>,
  log: FastifyBaseLogger,
  options: Parameters<typeof recoverInterruptedChanges>[2] = {},
): Promise<void> {
  const failures = await recoverInterruptedChanges(ports, runningChanges, options);
  if (failures.length === 0) return;
  const reasons = failures.map(({ tid, name, reason }) => `location ${name} of tenant ${tid}: ${reason}`).join('; ');
  log.warn(`Cannot recover some interrupted changes of files (${reasons}). Postern tries again every ten seconds, later every minute.`);
}

/** Deletes what interrupted changes left in the locations, and logs the locations where visitors cannot change files. */
async function sweepAndLog(ports: Ports, log: FastifyBaseLogger, busyLocations: BusyLocations): Promise<void> {
  try {
    for (const { tid, name, reason } of await sweepLocations(ports, busyLocations))
      log.warn(`Visitors cannot change files at location ${name} of tenant ${tid}: ${reason}.`);
  } catch {
    log.warn('Cannot delete temporary files in the locations. Postern tries again within an hour.');
  }
}

/** Starts the jobs that run at intervals. Disposal stops them and removes this process from the list of running processes. */
export function startScheduledJobs(jobs: Jobs): AsyncDisposable {
  const { ports, log, runningChanges, busyLocations, unknownLinks, uploadWriters, database, onReplacedDatabase } = jobs;
  const { jobInterval = defaultPollInterval } = jobs;
  const warn = (line: string) => log.warn(line);
  const retention = auditRetention(ports, () => performance.now(), warn);
  // One object for each of the two recovery runs, because they see different changes.
  const [failing, failingOfOthers] = [new FailingLocations(), new FailingLocations()];
  // One object for each kind of work: if one kind hangs at a location, the other kinds must still run there.
  const [sweptLocations, clearedLocations] = [new BusyLocations(), new BusyLocations()];
  let lastReportAt = performance.now();
  // If no other process can use the database, the first run recovers all changes: at the start, a full disk may have prevented that.
  let recoversAll = !ports.store.isShared;
  let othersReliableFrom = lastReportAt + firstReports;
  // Each process recovers its own changes whose outcome it could not record while the database was unavailable.
  const reportAndRecover = () =>
    checkSameDatabase(ports, database)
      .then(() => reportAlive(ports))
      .then(() => releaseUploads(ports, uploadWriters))
      .then(() => releaseForgottenNames(ports, runningChanges))
      .then(() => {
        const now = performance.now();
        // The database was unreachable, or this process was suspended: give the other processes time to report again.
        if (now - lastReportAt > maxReportGap) othersReliableFrom = now + processTimeout;
        lastReportAt = now;
        return recoverChanges(ports, runningChanges, log, { ownOnly: !recoversAll, failing, busyLocations });
      })
      .then(() => {
        recoversAll = false;
      })
      .catch((cause: unknown) => {
        if (cause instanceof DatabaseReplaced) onReplacedDatabase();
        else log.warn('Cannot use the database: it does not respond in time, or its disk is full. Postern tries again in a few seconds.');
      });
  const exchange = () =>
    unknownLinks
      .exchange({
        add: (since, networks) => addUnknownLinks(ports, since, networks),
        read: (since) => countUnknownLinks(ports, since),
      })
      .catch(() =>
        log.warn('Cannot share the counts of unknown links with the other processes. Until that works again, each process counts alone.'),
      );
  const timers = [
    setTimeout(() => void sweepAndLog(ports, log, sweptLocations), sweepDelay),
    setInterval(() => void reportAndRecover(), reportInterval),
    ...(ports.store.isShared ? [setInterval(() => void exchange(), exchangeInterval)] : []),
  ];
  for (const timer of timers) timer.unref();
  // One process recovers the changes that killed processes have left or running ones have given up, but only while it can tell which
  // processes run.
  const recoverOthers = async () => {
    const now = performance.now();
    if (now < othersReliableFrom || now - lastReportAt > maxReportGap) return;
    await removeEndedProcesses(ports);
    await recoverChanges(ports, runningChanges, log, { failing: failingOfOthers, ownFailing: failing, busyLocations });
  };
  const kinds = [
    recurring('delete-expired-rows', minute * 10, () => runIfClockIsRight(ports, warn, () => deleteExpiredRows(ports))),
    recurring('clear-locations', minute * 60, async () => {
      await runIfClockIsRight(ports, warn, () => endExpiredUploads(ports, uploadWriters, clearedLocations));
      await sweepAndLog(ports, log, sweptLocations);
    }),
    {
      ...recurring('count-files', minute / 6, (_, signal) => countDueFolders(ports, signal)),
      hasWork: () => hasDueFolders(ports),
    },
    recurring('audit-retention', minute * 10, () => runIfClockIsRight(ports, warn, () => retention.run())),
    ...(ports.store.isShared ? [recurring('recover-changes', reportInterval, recoverOthers)] : []),
    ...(ports.mail ? mailJobs({ ...ports, codeMails: emailCodeMails(ports) }, ports.mail, () => performance.now(), jobInterval) : []),
  ];
  const runner = new ScheduledJobs(ports, kinds, warn, jobInterval);
  void runner.start().catch(() => log.warn('Cannot prepare the scheduled jobs in the database. The next start tries again.'));
  return {
    async [Symbol.asyncDispose]() {
      for (const timer of timers) clearTimeout(timer);
      await runner[Symbol.asyncDispose]();
      await reportProcessEnd(ports).catch(() => {}); // without this, the other processes notice the end after about a minute
    },
  };
}
