import { Gauge, type Registry } from 'prom-client';
import type { JobCounts } from '#features/jobs/job-queue.ts';
import type { MailCounts } from '#features/mail/count-mails.ts';

/** Returns a function whose calls share the result of a running query: all metrics of a response show the same counts. */
function shareRunning<Result>(query: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | null = null;
  return () => {
    running ??= query().finally(() => {
      running = null;
    });
    return running;
  };
}

/** Adds the metrics of the jobs in the database. */
export function jobGauges(registry: Registry, jobs: () => Promise<readonly JobCounts[]>): void {
  const registers = [registry];
  const countJobs = shareRunning(() => jobs().catch(() => []));
  new Gauge({
    name: 'postern_jobs',
    help: 'Jobs in the database by kind and state: waiting, running, failed (given up).',
    labelNames: ['kind', 'state'],
    registers,
    async collect() {
      this.reset();
      for (const { kind, waiting, running, failed } of await countJobs())
        for (const [state, count] of Object.entries({ waiting, running, failed })) this.set({ kind, state }, count);
    },
  });
  new Gauge({
    name: 'postern_job_oldest_seconds',
    help: 'Time for which the oldest waiting job has been due, by kind.',
    labelNames: ['kind'],
    registers,
    async collect() {
      this.reset();
      for (const { kind, oldest } of await countJobs()) this.set({ kind }, oldest / 1000);
    },
  });
}

/** Adds the metrics of mails. */
export function mailGauges(registry: Registry, mails: () => Promise<MailCounts>): void {
  const registers = [registry];
  const countMails = shareRunning(() => mails().catch(() => null));
  new Gauge({
    name: 'postern_mails',
    help: 'Mails by state: waiting, sending, held; sent, failed, dropped within the last 30 days.',
    labelNames: ['state'],
    registers,
    async collect() {
      this.reset();
      const counts = await countMails();
      for (const [state, count] of Object.entries(counts?.byState ?? {})) this.set({ state }, count);
    },
  });
  new Gauge({
    name: 'postern_mail_oldest_seconds',
    help: 'Time for which the oldest waiting mail has been due; NaN: the database did not respond.',
    registers,
    async collect() {
      this.set(((await countMails())?.oldest ?? Number.NaN) / 1000);
    },
  });
}
