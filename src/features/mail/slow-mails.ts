import { setAndEvict } from '#core/bounded-map.ts';
import { addCount } from '#core/count-by-key.ts';
import { maxSlowMails } from '#ports/mail.ts';

const maxOfTenant = 5;
/** ms that the last mail of a tenant may have taken. After a slower one, the tenant is slow: all slow tenants together leave a worker to the others. */
const usualTime = 1000;
const maxTenants = 500; // whose last mail was slow

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
    setAndEvict(this.#slowTenants, tid, true, maxTenants);
    if (total >= maxSlowMails) return false;
    addCount(this.#slow, tid, 1);
    return true;
  }

  remove(tid: number): void {
    addCount(this.#slow, tid, -1);
  }

  /** Returns the tenants that get no turn: those with many slow mails, and all slow ones while they have all workers but one. */
  crowdedTenants(): number[] {
    const withManySlow = [...this.#slow].filter(([, count]) => count >= maxOfTenant).map(([tid]) => tid);
    let workers = 0;
    for (const [tid, count] of this.#running) if (this.#slowTenants.has(tid)) workers += count - (this.#slow.get(tid) ?? 0);
    return workers < this.#concurrency - 1 ? withManySlow : [...new Set([...withManySlow, ...this.#slowTenants.keys()])];
  }
}
