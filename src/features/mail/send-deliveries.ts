import { parseEmail } from '#core/mail/email.ts';
import { renderMail } from '#core/mail/mail-document.ts';
import { type Mail, type MailLane, MailRefused, MailUnavailable, type OutgoingMail } from '#ports/mail.ts';
import type { Ports } from '#ports/ports.ts';
import { StoreFull, StoreUnavailable } from '#ports/store.ts';
import {
  type Attempt,
  type ClaimedDelivery,
  claimDelivery,
  giveUpOldDeliveries,
  recordAttempt,
  requeueInterrupted,
} from './delivery-queue.ts';
import { composeMail, readContent } from './mail-content.ts';
import { unsubscribeUrl } from './unsubscribe.ts';

export type SendPorts = Pick<Ports, 'store' | 'random' | 'links' | 'vault'>;

const firstServerPause = 5_000; // ms before the next attempt while no mail can be sent
const maxServerPause = 300_000; // ms

/** Returns a claimed delivery as a mail. @returns null if what it says was deleted */
async function outgoingMail(ports: SendPorts, mail: Mail, delivery: ClaimedDelivery): Promise<OutgoingMail | null> {
  const { store } = ports;
  const stored = await store.read.selectFrom('mail_content').selectAll().where('id', '=', delivery.content_id).executeTakeFirst();
  if (!stored) return null;
  const unsubscribe = unsubscribeUrl(ports, delivery);
  const composed = composeMail(readContent(stored.kind, stored.data), {
    ...{ language: stored.language, timeZone: mail.timeZone, unsubscribeUrl: unsubscribe },
  });
  const headers = {
    'Auto-Submitted': 'auto-generated',
    'X-Auto-Response-Suppress': 'All',
    // RFC 8058: a mail program unsubscribes with one POST.
    ...(stored.kind === 'alert' ? { 'List-Unsubscribe': `<${unsubscribe}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' } : {}),
  };
  return {
    ...{ to: delivery.recipient, ...renderMail(composed), headers },
    ...{ messageId: delivery.message_id, date: delivery.created_at },
  };
}

/** Sends the deliveries of one lane. One process does this at a time, as the job of the lane. */
export class DeliverySender {
  readonly #ports: SendPorts;
  readonly #mail: Mail;
  readonly #lane: MailLane;
  readonly #now: () => number;
  #lastTenant = 0;
  #serverPause = 0;
  #notBefore = 0;

  /** @param now returns a monotonic time in ms */
  constructor(ports: SendPorts, mail: Mail, lane: MailLane, now: () => number) {
    this.#ports = ports;
    this.#mail = mail;
    this.#lane = lane;
    this.#now = now;
  }

  /** Whether the server may be tried again after it could not be used. */
  isReady(): boolean {
    return this.#now() >= this.#notBefore;
  }

  /** Sends all deliveries that are due, until the server cannot be used. @throws StoreUnavailable, StoreFull */
  async run(signal: AbortSignal): Promise<void> {
    await requeueInterrupted(this.#ports, this.#lane);
    await giveUpOldDeliveries(this.#ports);
    const workers = Array.from({ length: this.#mail.concurrency[this.#lane] }, () => this.#work(signal));
    const failed = (await Promise.allSettled(workers)).find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }

  async #work(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.isReady()) {
      const delivery = await claimDelivery(this.#ports, this.#lane, this.#lastTenant);
      if (!delivery) return;
      this.#lastTenant = delivery.tid;
      const attempt = await this.#send(delivery, signal);
      await recordAttempt(this.#ports, delivery, attempt);
    }
  }

  async #send(delivery: ClaimedDelivery, signal: AbortSignal): Promise<Attempt> {
    if (parseEmail(delivery.recipient) === null) return { kind: 'refused', error: 'This is not an address that mail can be sent to.' };
    try {
      const mail = await outgoingMail(this.#ports, this.#mail, delivery);
      if (!mail) return { kind: 'refused', error: 'The text of the mail was deleted.' };
      await this.#mail.send(mail, this.#lane, signal);
      this.#serverPause = 0;
      return { kind: 'sent' };
    } catch (cause) {
      if (cause instanceof StoreUnavailable || cause instanceof StoreFull) throw cause;
      if (cause instanceof MailRefused) return { kind: 'refused', error: cause.message };
      if (cause instanceof MailUnavailable && cause.isServer) this.#pause();
      return { kind: 'delayed', error: cause instanceof Error ? cause.message : 'The mail could not be sent.' };
    }
  }

  #pause(): void {
    this.#serverPause = Math.min(Math.max(2 * this.#serverPause, firstServerPause), maxServerPause);
    this.#notBefore = this.#now() + this.#serverPause;
  }
}
