import { Gauge, type Registry } from 'prom-client';
import type { JobCounts } from '#features/jobs/job-queue.ts';
import type { MailCounts } from '#features/mail/count-mails.ts';

/** Adds the metrics of the jobs in the database. */
export function jobGauges(registry: Registry, jobs: () => Promise<readonly JobCounts[]>): void {
  const registers = [registry];
  const oldest = new Gauge({
    name: 'postern_job_oldest_seconds',
    help: 'Time for which the oldest waiting job has been due, by kind.',
    labelNames: ['kind'],
    registers,
  });
  new Gauge({
    name: 'postern_jobs',
    help: 'Jobs in the database by kind and state: waiting, running, failed (given up).',
    labelNames: ['kind', 'state'],
    registers,
    async collect() {
      for (const gauge of [this, oldest]) gauge.reset();
      for (const { kind, waiting, running, failed, oldest: age } of await jobs().catch(() => [])) {
        for (const [state, count] of Object.entries({ waiting, running, failed })) this.set({ kind, state }, count);
        oldest.set({ kind }, age / 1000);
      }
    },
  });
}

/** Adds the metrics of mails. */
export function mailGauges(registry: Registry, mails: () => Promise<MailCounts>): void {
  const registers = [registry];
  const oldest = new Gauge({
    name: 'postern_mail_oldest_seconds',
    help: 'Time for which the oldest waiting mail has been due.',
    registers,
  });
  new Gauge({
    name: 'postern_mails',
    help: 'Mails by state: waiting, sending, held; sent, failed, dropped within the last 30 days.',
    labelNames: ['state'],
    registers,
    async collect() {
      this.reset();
      const counts = await mails().catch(() => null);
      oldest.set((counts?.oldest ?? 0) / 1000);
      for (const [state, count] of Object.entries(counts?.byState ?? {})) this.set({ state }, count);
    },
  });
}
