import { costQueue } from '#core/cost-queue.ts';

/** A message that waits to be parsed. */
interface WaitingMessage {
  readonly tenant: string;
  readonly parse: () => void;
}

/**
 * Parses the messages of directories, one in each iteration of the event loop. Tenants take turns by the time that their messages have
 * taken: the directory of one tenant, which can send messages that take long, does not delay the sign-ins of others.
 */
export class MessageTurns {
  readonly #waiting = costQueue<WaitingMessage>();
  readonly #monotonic: () => number;
  #isRunning = false;

  /** @param monotonic returns a monotonic time in ms */
  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Calls `parse`, which must not throw, in the turn of a tenant. */
  add(tid: number, parse: () => void): void {
    const tenant = `${tid}`;
    this.#waiting.add(tenant, { tenant, parse });
    if (this.#isRunning) return;
    this.#isRunning = true;
    setImmediate(() => this.#parseNext());
  }

  #parseNext(): void {
    const next = this.#waiting.take();
    this.#isRunning = next !== undefined;
    if (!next) return;
    const start = this.#monotonic();
    next.parse();
    setImmediate(() => {
      this.#waiting.charge(next.tenant, this.#monotonic() - start); // with the work that its promises have caused
      this.#parseNext();
    });
  }
}
