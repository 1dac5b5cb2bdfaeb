import { addCount } from '#core/count-by-key.ts';
import { StorageBusy } from '#ports/storage.ts';

const defaultTotal = 256 << 20; // bytes

/** Memory that some work takes, from a budget. Its disposal gives it back. */
export interface TakenMemory extends Disposable {
  /** Sets the number of bytes that the work takes now. @throws StorageBusy if there are not enough left */
  set(bytes: number): void;
}

/** The budget as one tenant sees it. */
export interface TenantMemory {
  /** Begins work that takes no memory yet. */
  begin(): TakenMemory;
}

/**
 * Memory for what services send about many files. A tenant may have half of what the others leave: the services that one tenant names
 * cannot take all of it.
 */
export class MemoryBudget {
  readonly #total: number;
  readonly #byTenant = new Map<number, number>();
  #taken = 0; // bytes of all tenants

  constructor(total = defaultTotal) {
    this.#total = total;
  }

  /** Returns the budget as a tenant sees it. */
  of(tid: number): TenantMemory {
    return { begin: () => this.#begin(tid) };
  }

  #begin(tid: number): TakenMemory {
    let bytes = 0;
    const change = (difference: number) => {
      addCount(this.#byTenant, tid, difference);
      this.#taken += difference;
      bytes += difference;
    };
    return {
      set: (next) => {
        if (next > bytes && !this.#hasRoom(tid, next - bytes)) throw new StorageBusy('too many long lists of files are being read');
        change(next - bytes);
      },
      [Symbol.dispose]: () => change(-bytes),
    };
  }

  #hasRoom(tid: number, more: number): boolean {
    const own = this.#byTenant.get(tid) ?? 0;
    const others = this.#taken - own;
    return own + more <= (this.#total - others) / 2;
  }
}
