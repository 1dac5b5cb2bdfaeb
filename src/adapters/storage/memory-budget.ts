import { addCount } from '#core/count-by-key.ts';
import { StorageBusy } from '#ports/storage-errors.ts';

const defaultTotal = 256 << 20; // bytes

/** Memory that a task takes from a budget. Disposal gives the memory back. */
export interface MemoryReservation extends Disposable {
  /** Sets the number of bytes that the task takes now. @throws StorageBusy if not enough bytes are left */
  set(bytes: number): void;
}

/** The budget of one tenant. */
export interface TenantMemory {
  /** Begins a task that takes no memory yet. */
  begin(): MemoryReservation;
}

/**
 * A limit for memory that tenants share, such as the memory for long lists of files. A tenant may take half of the memory that the
 * others leave, so that no tenant can take all of it.
 */
export class MemoryBudget {
  readonly #total: number;
  readonly #byTenant = new Map<number, number>();
  #takenBytes = 0; // bytes of all tenants

  constructor(total = defaultTotal) {
    this.#total = total;
  }

  of(tid: number): TenantMemory {
    return { begin: () => this.#begin(tid) };
  }

  #begin(tid: number): MemoryReservation {
    let bytes = 0;
    const change = (difference: number) => {
      addCount(this.#byTenant, tid, difference);
      this.#takenBytes += difference;
      bytes += difference;
    };
    return {
      set: (next) => {
        if (next > bytes && !this.#hasSpace(tid, next - bytes)) throw new StorageBusy('too many long lists of files are being read');
        change(next - bytes);
      },
      [Symbol.dispose]: () => change(-bytes),
    };
  }

  #hasSpace(tid: number, more: number): boolean {
    const ownBytes = this.#byTenant.get(tid) ?? 0;
    const others = this.#takenBytes - ownBytes;
    return ownBytes + more <= (this.#total - others) / 2;
  }
}
