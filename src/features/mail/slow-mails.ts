import { addCount } from '#core/count-by-key.ts';
import { maxSlowMails } from '#ports/mail.ts';

const maxOfTenant = 5;

/** The slow mails of a lane that are being sent in addition to the usual number, by tenant. */
export class SlowMails {
  readonly #byTenant = new Map<number, number>();

  /** Adds a mail. @returns false if there are too many */
  add(tid: number): boolean {
    const total = [...this.#byTenant.values()].reduce((sum, count) => sum + count, 0);
    if (total >= maxSlowMails) return false;
    addCount(this.#byTenant, tid, 1);
    return true;
  }

  remove(tid: number): void {
    addCount(this.#byTenant, tid, -1);
  }

  /** Returns the tenants that get no turn because they have so many. */
  crowdedTenants(): number[] {
    return [...this.#byTenant].filter(([, count]) => count >= maxOfTenant).map(([tid]) => tid);
  }
}
