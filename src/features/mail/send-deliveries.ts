import { maxAgeOf } from '#core/mail/delivery-age.ts';
import { parseEmail } from '#core/mail/email.ts';
import { type Mail, type MailLane, MailRefused, MailUnavailable } from '#ports/mail.ts';
import type { Ports } from '#ports/ports.ts';
import { isTemporaryStoreError } from '#ports/store.ts';
import { type ComposedDelivery, type ComposePorts, DeliveryComposer } from './compose-deliveries.ts';
import { deleteUnwantedCodes } from './delete-unwanted-codes.ts';
import {
  type AttemptOutcome,
  type ClaimedDelivery,
  claimDeliveries,
  giveUpOldDeliveries,
  recordAttempt,
  requeueInterrupted,
  requeueUntriedDeliveries,
} from './delivery-queue.ts';
import { hasDueDelivery } from './next-turn.ts';
import { mailHost, type RunningMail, SlowMails } from './slow-mails.ts';

export type SendPorts = ComposePorts & Pick<Ports, 'random'>;

/** Small, so that each turn is short. */
const deliveriesPerClaim = 10;
/** ms after which claimed mails count as slow. Another worker then sends other mails. */
const slowAfter = 5000;
const idlePause = 500; // ms between two checks for new deliveries while mails are being sent
const firstServerPause = 1000; // ms before the next attempt while no mail can be sent; each further pause is doubled, up to a maximum
/** Longest pause of each lane in ms. A person waits for a code. */
const maxServerPauses = { alerts: 300_000, codes: 15_000 } as const;

/** Returns the outcome of a failed attempt. @throws StoreUnavailable, StoreFull */
function failedAttempt(cause: unknown): AttemptOutcome {
  if (isTemporaryStoreError(cause)) throw cause;
  if (cause instanceof MailRefused) return { kind: 'refused', error: cause.message };
  return { kind: 'delayed', error: cause instanceof Error ? cause.message : 'The mail could not be sent.' };
}

/** Sends the deliveries of one lane. One process does this at a time, as the job of the lane. */
export class DeliverySender {
  readonly #ports: SendPorts;
  readonly #mail: Mail;
  readonly #composer: DeliveryComposer;
  readonly #lane: MailLane;
  readonly #now: () => number;
  #lastTenant = 0;
  #lastClaim: Promise<unknown> = Promise.resolve();
  readonly #turns = new Map<number, string>();
  #deleting: Promise<void> | null = null;
  #checkedUntil = 0; // id of the newest code that `deleteUnwantedCodes` has checked
  #sending = 0;
  readonly #slow: SlowMails;
  #serverPause = 0;
  #notBefore = 0;

  /** @param now returns a monotonic time in ms */
  constructor(ports: SendPorts, mail: Mail, lane: MailLane, now: () => number) {
    this.#ports = ports;
    this.#mail = mail;
    this.#composer = new DeliveryComposer(ports, mail.timeZone);
    this.#lane = lane;
    this.#now = now;
    this.#slow = new SlowMails(mail.concurrency[lane]);
  }

  /** Whether the server may be tried again after it could not be used. */
  isReady(): boolean {
    return this.#now() >= this.#notBefore;
  }

  /** Sends all deliveries that are due, until the server cannot be used. @throws StoreUnavailable, StoreFull */
  async run(signal: AbortSignal): Promise<void> {
    await requeueInterrupted(this.#ports, this.#lane);
    await giveUpOldDeliveries(this.#ports, this.#lane);
    const failures: unknown[] = [];
    const workers: Promise<unknown>[] = [];
    const startWorker = () => {
      workers.push(this.#work(signal, startWorker).catch((cause: unknown) => failures.push(cause)));
    };
    for (let count = 0; count < this.#mail.concurrency[this.#lane]; count += 1) startWorker();
    for (const worker of workers) await worker; // others may start meanwhile
    if (failures.length > 0) throw failures[0];
  }

  /** Sends deliveries until none is due. @param startWorker starts a worker that takes the place of this one */
  async #work(signal: AbortSignal, startWorker: () => void): Promise<void> {
    while (!signal.aborted && this.isReady()) {
      if (this.#lane === 'codes') await this.#deleteUnwanted(signal);
      const deliveries = await this.#claim();
      const [first] = deliveries;
      if (!first && !(await this.#awaitDeliveries(signal))) return;
      if (!first) continue;
      const isReplaced = await this.#sendAll(deliveries, signal, startWorker).finally(() => this.#slow.end(first));
      if (isReplaced) return;
    }
  }

  /**
   * Claims the next deliveries, and counts the worker that will send them (`SlowMails.begin`). Workers claim one after the other, so that
   * each sees earlier claims.
   */
  #claim(): Promise<readonly ClaimedDelivery[]> {
    const claim = this.#lastClaim.then(async () => {
      const last = { tid: this.#lastTenant, turns: this.#turns };
      const deliveries = await claimDeliveries(this.#ports, this.#lane, last, this.#slow.crowded(), deliveriesPerClaim);
      const [first] = deliveries;
      if (!first) return deliveries;
      this.#lastTenant = first.tid;
      this.#turns.set(first.tid, first.turn);
      this.#slow.begin(first);
      return deliveries;
    });
    this.#lastClaim = claim.catch(() => {}); // the caller handles a failure
    return claim;
  }

  /**
   * Waits until a delivery is due, but only while other workers are sending mails, which may take minutes.
   * @returns false when no mail is being sent any more, or the signal is aborted
   */
  async #awaitDeliveries(signal: AbortSignal): Promise<boolean> {
    while (this.#sending > 0 && !signal.aborted) {
      await new Promise<void>((resolve) => setTimeout(resolve, idlePause).unref());
      if (this.#sending > 0 && (await hasDueDelivery(this.#ports.store, this.#lane, this.#slow.crowded()))) return true;
    }
    return false;
  }

  /**
   * Sends claimed deliveries of a tenant one after the other. Returns the rest to the queue after a slow one.
   * @returns whether another worker has taken over, because the deliveries took too long
   */
  async #sendAll(deliveries: readonly ClaimedDelivery[], signal: AbortSignal, startWorker: () => void): Promise<boolean> {
    const start = this.#now();
    for (const [index, delivery] of deliveries.entries()) {
      const rest = deliveries.slice(index + 1);
      const mail: RunningMail = { tid: delivery.tid, turn: delivery.turn, host: null };
      let requeueing: Promise<void> | null = null;
      const handOver = () => {
        if (!this.#slow.beginSlow(mail)) return;
        requeueing = requeueUntriedDeliveries(this.#ports, rest).finally(startWorker);
        requeueing.catch(() => {}); // awaited below
      };
      const begin = this.#now();
      const timer = setTimeout(handOver, Math.max(0, start + slowAfter - begin)).unref();
      this.#sending += 1;
      await this.#process(delivery, mail, signal).finally(() => {
        clearTimeout(timer);
        this.#sending -= 1;
        if (requeueing) this.#slow.endSlow(mail);
      });
      const isSlow = this.#slow.measure(mail, this.#now() - begin);
      if (requeueing) {
        await requeueing;
        return true;
      }
      if (!isSlow) continue;
      await requeueUntriedDeliveries(this.#ports, rest);
      return false;
    }
    return false;
  }

  /** Deletes the waiting codes for addresses that the login profile does not know. Workers that call this at one time share one run. */
  #deleteUnwanted(signal: AbortSignal): Promise<void> {
    this.#deleting ??= deleteUnwantedCodes(this.#ports, this.#checkedUntil, signal)
      .then((checkedUntil) => {
        this.#checkedUntil = checkedUntil;
      })
      .finally(() => {
        this.#deleting = null;
      });
    return this.#deleting;
  }

  /** Sends one delivery and records its outcome before the next one is sent, so that after an interruption only this mail is sent again. */
  async #process(delivery: ClaimedDelivery, mail: RunningMail, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return; // the next sender of the lane returns the delivery to the queue
    const composed = this.isReady() ? await this.#compose(delivery) : ({ kind: 'untried' } as const);
    const attempt = 'to' in composed ? await this.#sendInTurn(delivery, composed, mail, signal) : composed;
    if (signal.aborted && attempt.kind === 'delayed') return;
    await recordAttempt(this.#ports, this.#lane, delivery, attempt, 'to' in composed ? composed.to : delivery.recipient);
  }

  async #compose(delivery: ClaimedDelivery): Promise<ComposedDelivery | AttemptOutcome> {
    if (delivery.claimed_at - delivery.created_at > maxAgeOf[this.#lane]) return { kind: 'refused', error: 'The mail is too old.' };
    try {
      const composed = await this.#composer.compose(delivery);
      if (!('to' in composed) || parseEmail(composed.to) !== null) return composed;
      return { kind: 'refused', error: 'This is not an address that mail can be sent to.' };
    } catch (cause) {
      return failedAttempt(cause);
    }
  }

  /** Sends a mail, or postpones it if many mails to the host of the recipient's address, or to the domain of this host, are slow. */
  async #sendInTurn(
    delivery: ClaimedDelivery,
    composed: ComposedDelivery,
    mail: RunningMail,
    signal: AbortSignal,
  ): Promise<AttemptOutcome> {
    if (!this.#slow.beginHost(mail, mailHost(composed.to))) return { kind: 'postponed' };
    try {
      return await this.#send(delivery, composed, signal);
    } finally {
      this.#slow.endHost(mail);
    }
  }

  async #send(delivery: ClaimedDelivery, { to, mail, headers }: ComposedDelivery, signal: AbortSignal): Promise<AttemptOutcome> {
    try {
      const message = { to, ...mail, headers, messageId: delivery.message_id, date: delivery.created_at };
      await this.#mail.send(message, this.#lane, signal);
      this.#serverPause = 0;
      return { kind: 'sent' };
    } catch (cause) {
      if (cause instanceof MailUnavailable && cause.affectsAllMails) this.#pause();
      return failedAttempt(cause);
    }
  }

  /** Begins a pause. The mails that fail together begin one pause. */
  #pause(): void {
    if (!this.isReady()) return;
    this.#serverPause = Math.min(Math.max(2 * this.#serverPause, firstServerPause), maxServerPauses[this.#lane]);
    this.#notBefore = this.#now() + this.#serverPause;
  }
}
