import { costQueue } from '#core/cost-queue.ts';

/** Work that waits. */
interface WaitingWork {
  readonly tenant: string;
  readonly work: () => void;
}

/**
 * Runs short work on what the servers of tenants have sent, one piece in each iteration of the event loop. Tenants take turns by the
 * time that their work has taken: a server of one tenant, which can send what takes long, does not delay the work of others.
 */
export class TenantTurns {
  readonly #waiting = costQueue<WaitingWork>();
  readonly #monotonic: () => number;
  readonly #restFactor: number;
  #isRunning = false;
  #rest = 0; // ms that other requests must still get

  /** @param monotonic returns a monotonic time in ms @param restFactor other requests get the event loop for this many times the work */
  constructor(monotonic: () => number, restFactor = 0) {
    this.#monotonic = monotonic;
    this.#restFactor = restFactor;
  }

  /** Calls `work`, which must not throw, in the turn of a tenant. */
  add(tid: number, work: () => void): void {
    const tenant = `${tid}`;
    this.#waiting.add(tenant, { tenant, work });
    if (this.#isRunning) return;
    this.#isRunning = true;
    setImmediate(() => this.#runNext());
  }

  #runNext(): void {
    const next = this.#waiting.take();
    this.#isRunning = next !== undefined;
    if (!next) return;
    const start = this.#monotonic();
    next.work();
    setImmediate(() => {
      const cost = this.#monotonic() - start; // with the work that its promises have caused
      this.#waiting.charge(next.tenant, cost);
      const rest = this.#rest + this.#restFactor * cost;
      this.#rest = rest < 1 ? rest : 0;
      if (rest < 1) this.#runNext();
      else setTimeout(() => this.#runNext(), rest);
    });
  }
}
