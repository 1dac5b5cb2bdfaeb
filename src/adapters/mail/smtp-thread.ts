// The script of the thread that sends mail: composing and sending a message takes a few ms, which would delay the main thread.
import { parentPort, workerData } from 'node:worker_threads';
import type { OutgoingMail, SendLane } from '#ports/mail.ts';
import { smtpConnections } from './smtp-connections.ts';
import type { SendFailure, SmtpOptions } from './smtp-options.ts';

/** A task of the thread: to send a mail, or to stop sending it. `id` and `abort` identify the mail. */
export type SendTask = { readonly id: number; readonly mail: OutgoingMail; readonly lane: SendLane } | { readonly abort: number };

export interface SendResult {
  readonly id: number;
  /** null: the server has accepted the mail. */
  readonly failure: SendFailure | null;
}

const options: SmtpOptions = workerData;
const connections = smtpConnections(options);
const running = new Map<number, AbortController>();

async function send(id: number, mail: OutgoingMail, lane: SendLane): Promise<SendResult> {
  const controller = new AbortController();
  running.set(id, controller);
  const failure = await connections.send(mail, lane, controller.signal);
  running.delete(id);
  return { id, failure };
}

parentPort?.on('message', async (task: SendTask) => {
  if ('abort' in task) return void running.get(task.abort)?.abort();
  parentPort?.postMessage(await send(task.id, task.mail, task.lane));
});
