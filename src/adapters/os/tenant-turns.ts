import { costQueue } from '#core/cost-queue.ts';

/** Work that takes longer than `longWork` ms makes its tenant pause for `pauseFactor` times as long. */
const [longWork, pauseFactor] = [100, 20];

/** Limits of one iteration of the event loop: number of pieces of work, and ms of work after which no further piece begins. */
const [maxWorkPerIteration, maxTime] = [8, 1];

interface WaitingWork {
  readonly tenant: string;
  readonly work: () => void;
}

/**
 * Runs short work on data from the servers of tenants, a few pieces of work in each iteration of the event loop. Tenants take turns. The
 * more time the work of a tenant takes, the later its next turn comes, so others wait for at most one piece of it.
 */
export class TenantTurns {
  readonly #waiting = costQueue<WaitingWork>();
  readonly #monotonic: () => number;
  readonly #restFactor: number;
  #isRunning = false;
  #current: { readonly tenant: string; readonly start: number } | null = null;
  /** ms that the work of this iteration has taken. */
  #spent = 0;
  #rest = 0; // ms for which other requests must still get the event loop; less than 1 ms is carried over

  /**
   * @param monotonic returns a monotonic time in ms
   * @param restFactor after the work of each iteration, other requests get the event loop for `restFactor` times as long as the work took
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
    this.#planIteration();
  }

  /** Holds back the work of a tenant after a piece that nothing could interrupt, such as the verification of a costly certificate. */
  #pause(tenant: string, ms: number): void {
    this.#waiting.pause(tenant);
    setTimeout(() => {
      this.#waiting.resume(tenant);
      this.#start();
    }, ms);
  }

  /**
   * Plans the work of an iteration of the event loop. Node.js calls the immediates one after the other. Between two of them, it runs the
   * promise callbacks that the first has caused, so `#endPiece` is called when all work of the piece is done.
   */
  #planIteration(): void {
    this.#spent = 0;
    for (let piece = 0; piece < maxWorkPerIteration; piece += 1) {
      setImmediate(() => this.#beginPiece());
      setImmediate(() => this.#endPiece());
    }
    setImmediate(() => this.#endIteration());
  }

  #beginPiece(): void {
    const next = this.#spent < maxTime ? this.#waiting.take() : undefined;
    if (!next) return;
    this.#current = { tenant: next.tenant, start: this.#monotonic() };
    next.work();
  }

  #endPiece(): void {
    if (!this.#current) return;
    const { tenant, start } = this.#current;
    this.#current = null;
    const cost = this.#monotonic() - start;
    this.#spent += cost;
    this.#waiting.charge(tenant, cost);
    if (cost > longWork) this.#pause(tenant, pauseFactor * cost);
  }

  #endIteration(): void {
    const rest = this.#rest + this.#restFactor * this.#spent;
    this.#rest = rest < 1 ? rest : 0;
    if (rest >= 1) setTimeout(() => this.#continue(), rest);
    else this.#continue();
  }

  #continue(): void {
    this.#isRunning = !this.#waiting.isEmpty();
    if (this.#isRunning) this.#planIteration();
  }
}
