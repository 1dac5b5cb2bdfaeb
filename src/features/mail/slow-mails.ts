import { setAndEvict } from '#core/bounded-map.ts';
import { addCount } from '#core/count-by-key.ts';
import { maxSlowMails } from '#ports/mail.ts';

const maxOfTenant = 5;
/** ms for which the last mail of a tenant may have taken. After a slower one, the tenant leaves a worker to the others. */
const usualTime = 1000;
const maxTenants = 1000; // whose last mail was slow

/** The mails of a lane that are being sent, by tenant, so that the slow ones of one tenant delay no other tenant. */
export class SlowMails {
  readonly #concurrency: number;
  /** Slow mails that are sent in addition to the usual number. */
  readonly #slow = new Map<number, number>();
  readonly #running = new Map<number, number>();
  readonly #slowTenants = new Map<number, true>();

  /** @param concurrency the usual number of mails */
  constructor(concurrency: number) {
    this.#concurrency = concurrency;
  }

  /** Counts claimed mails, which one worker sends. */
  begin(tid: number): void {
    addCount(this.#running, tid, 1);
  }

  end(tid: number): void {
    addCount(this.#running, tid, -1);
  }

  /** Notes how long a mail has taken, in ms. @returns whether that was unusually long */
  measure(tid: number, duration: number): boolean {
    const isUsual = duration <= usualTime;
    if (isUsual) this.#slowTenants.delete(tid);
    else setAndEvict(this.#slowTenants, tid, true, maxTenants);
    return !isUsual;
  }

  /** Adds a mail that is slow. @returns false if there are too many */
  add(tid: number): boolean {
    const total = [...this.#slow.values()].reduce((sum, count) => sum + count, 0);
    if (total >= maxSlowMails) return false;
    addCount(this.#slow, tid, 1);
    return true;
  }

  remove(tid: number): void {
    addCount(this.#slow, tid, -1);
  }

  /** Returns the tenants that get no turn: those with many slow mails, and slow ones with all workers but one. */
  crowdedTenants(): number[] {
    const withManySlow = [...this.#slow].filter(([, count]) => count >= maxOfTenant);
    const withMostWorkers = [...this.#running].filter(([tid, count]) => count >= this.#concurrency - 1 && this.#slowTenants.has(tid));
    return [...new Set([...withManySlow, ...withMostWorkers].map(([tid]) => tid))];
  }
}
