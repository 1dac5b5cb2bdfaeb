import { costQueue } from '#core/cost-queue.ts';

/** Work that takes longer than `longWork` ms makes its tenant pause for `pauseFactor` times as long. */
const [longWork, pauseFactor] = [100, 20];

/** Work that waits. */
interface WaitingWork {
  readonly tenant: string;
  readonly work: () => void;
}

/**
 * Runs short work on data from the servers of tenants, one piece of work in each iteration of the event loop. Tenants take turns by the
 * time that their work has taken: if the server of one tenant sends data that takes long to read, the work of others is not delayed.
 */
export class TenantTurns {
  readonly #waiting = costQueue<WaitingWork>();
  readonly #monotonic: () => number;
  readonly #restFactor: number;
  #isRunning = false;
  #rest = 0; // ms that other requests must still get

  /**
   * @param monotonic returns a monotonic time in ms
   * @param restFactor after each piece of work, other requests get the event loop for this factor times the duration of the work
   */
  constructor(monotonic: () => number, restFactor = 0) {
    this.#monotonic = monotonic;
    this.#restFactor = restFactor;
  }

  /** Calls `work`, which must not throw, in the turn of a tenant, or of the network of a server whose tenant is not known. */
  add(tidOrNetwork: number | string, work: () => void): void {
    const tenant = `${tidOrNetwork}`;
    this.#waiting.add(tenant, { tenant, work });
    this.#start();
  }

  #start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    setImmediate(() => this.#runNext());
  }

  /** Holds back the work of a tenant after a piece that nothing could interrupt, such as the verification of a costly certificate. */
  #pause(tenant: string, ms: number): void {
    this.#waiting.pause(tenant);
    setTimeout(() => {
      this.#waiting.resume(tenant);
      this.#start();
    }, ms);
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
      if (cost > longWork) this.#pause(next.tenant, pauseFactor * cost);
      const rest = this.#rest + this.#restFactor * cost;
      this.#rest = rest < 1 ? rest : 0;
      if (rest < 1) this.#runNext();
      else setTimeout(() => this.#runNext(), rest);
    });
  }
}
