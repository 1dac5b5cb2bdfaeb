import type { JobKind } from '#features/jobs/job-runner.ts';
import { addPendingDeliveries, hasPendingRecipients } from '#features/outbox/add-mail.ts';
import type { Mail, MailLane } from '#ports/mail.ts';
import type { Ports } from '#ports/ports.ts';
import { AlertCollector } from './collect-alerts.ts';
import { correctDueTimes } from './correct-due-times.ts';
import { hasDeliveriesToSend } from './delivery-queue.ts';
import { hasDueDigest, planAlerts } from './plan-alerts.ts';
import { DeliverySender, type SendPorts } from './send-deliveries.ts';

const correctInterval = 600_000; // ms
const lease = 30_000; // ms after which another process continues if this one has ended or hangs
const pauses = [5000, 30_000, 60_000] as const; // ms

/**
 * Returns the jobs that plan and send mail, and correct its due times.
 * @param now returns a monotonic time in ms
 * @param interval ms from the end of a run that plans mail to the next. Mail is sent twice as often
 */
export function mailJobs(ports: Ports & Pick<SendPorts, 'codeMails'>, mail: Mail, now: () => number, interval: number): JobKind[] {
  const { store } = ports;
  const common = { concurrency: 1, lease, pauses, maxAttempts: null };
  const collector = new AlertCollector(store, now, interval);
  const plan: JobKind = {
    ...{ name: 'plan-mail', every: interval, ...common },
    hasWork: async () => (await collector.hasWork()) || (await hasDueDigest(store)) || hasPendingRecipients(store),
    async run(_job, signal) {
      await collector.collect(signal);
      for (let tid: number | null = 0; tid !== null && !signal.aborted; tid = await addPendingDeliveries(ports, mail.domain, tid))
        await planAlerts(ports, { language: mail.language, domain: mail.domain }, signal);
    },
  };
  const send = (lane: MailLane): JobKind => {
    const sender = new DeliverySender(ports, mail, lane, now);
    return {
      ...{ name: `send-${lane}`, every: interval / 2, ...common },
      hasWork: async () => sender.isReady() && hasDeliveriesToSend(store, lane),
      run: (_job, signal) => sender.run(signal),
    };
  };
  const correct: JobKind = { ...{ name: 'correct-mail-times', every: correctInterval, ...common }, run: () => correctDueTimes(ports) };
  return [plan, send('alerts'), send('codes'), correct];
}
