import { addCount } from './count-by-key.ts';

/** Identifies a group, for example a tenant or a network. */
type Group = number | string;

/** Memory that a task takes from a budget. Disposal gives the memory back. */
export interface MemoryReservation extends Disposable {
  /** Sets the number of bytes that the task takes now. @throws the refusal of the budget if not enough bytes are left */
  set(bytes: number): void;
  /** As `set`, but returns whether enough bytes are left. */
  trySet(bytes: number): boolean;
}

/** The budget of one group. */
export interface GroupMemory {
  /** Begins a task that takes no memory yet. */
  begin(): MemoryReservation;
}

/**
 * A limit for memory that groups share, such as the memory of all tenants for long lists of files. A group may take half of the memory that
 * the others leave, so that no group can take all of it.
 */
export class MemoryBudget {
  readonly #total: number;
  readonly #refusal: () => Error;
  readonly #byGroup = new Map<Group, number>();
  #takenBytes = 0; // bytes of all groups

  /** @param total bytes @param refusal the error if a task needs more bytes than are left for its group */
  constructor(total: number, refusal: () => Error) {
    this.#total = total;
    this.#refusal = refusal;
  }

  of(group: Group): GroupMemory {
    return { begin: () => this.#begin(group) };
  }

  #begin(group: Group): MemoryReservation {
    let bytes = 0;
    const change = (difference: number) => {
      addCount(this.#byGroup, group, difference);
      this.#takenBytes += difference;
      bytes += difference;
    };
    const trySet = (next: number) => {
      if (next > bytes && !this.#hasSpace(group, next - bytes)) return false;
      change(next - bytes);
      return true;
    };
    return {
      set: (next) => {
        if (!trySet(next)) throw this.#refusal();
      },
      trySet,
      [Symbol.dispose]: () => change(-bytes),
    };
  }

  #hasSpace(group: Group, more: number): boolean {
    const ownBytes = this.#byGroup.get(group) ?? 0;
    const others = this.#takenBytes - ownBytes;
    return ownBytes + more <= (this.#total - others) / 2;
  }
}
