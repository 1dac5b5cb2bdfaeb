import { type MessageName, Refusal } from '#core/messages.ts';

const retryAfter = 5; // seconds

/** Kinds of holders, by which held bytes are counted. At a limit, the newest holds of a wide network may be aborted (`HeldMemory.hold`). */
type HolderKind = 'wideNetwork' | 'link' | 'portal' | 'tenant';
/** Names of the holders whose limits apply to some memory, by kind. Must name one for each kind that has a limit. */
export type MemoryHolders = Readonly<Partial<Record<HolderKind, string>>>;
/** Maximum bytes at one time: for each holder, by its kind, and in total. */
export type MemoryLimits = Readonly<Partial<Record<HolderKind, number>>> & { readonly all: number };

/** Memory that a request or a response occupies until it is released. */
interface Hold {
  readonly bytes: number;
  readonly network: string | null; // the wide one
  /** Names of the limits that this hold counts towards. */
  readonly limitNames: readonly string[];
  readonly abort: () => void;
  isReleased: boolean;
}

/** The holds of a wide network for one limit, in the order in which they began. */
class NetworkHolds {
  bytes = 0;
  #count = 0;
  /** May contain holds that are already released, but the last one is not released. */
  #holds: Hold[] = [];

  get newest(): Hold | undefined {
    return this.#holds.at(-1);
  }

  add(hold: Hold): void {
    this.bytes += hold.bytes;
    this.#count += 1;
    this.#holds.push(hold);
  }

  /** Removes a hold that was released. */
  remove(hold: Hold): void {
    this.bytes -= hold.bytes;
    this.#count -= 1;
    while (this.newest?.isReleased) this.#holds.pop();
    if (this.#holds.length > 2 * this.#count + 100) this.#holds = this.#holds.filter(({ isReleased }) => !isReleased);
  }
}

/** The holds that count towards one limit. There may be tens of thousands: a search looks at each network, not at each hold. */
class LimitedHolds {
  bytes = 0;
  readonly #byNetwork = new Map<string, NetworkHolds>();

  add(hold: Hold): void {
    this.bytes += hold.bytes;
    if (hold.network === null) return;
    const ofNetwork = this.#byNetwork.get(hold.network) ?? new NetworkHolds();
    this.#byNetwork.set(hold.network, ofNetwork);
    ofNetwork.add(hold);
  }

  /** Removes a hold that was released. */
  remove(hold: Hold): void {
    this.bytes -= hold.bytes;
    const ofNetwork = hold.network === null ? undefined : this.#byNetwork.get(hold.network);
    if (hold.network === null || !ofNetwork) return;
    ofNetwork.remove(hold);
    if (!ofNetwork.newest) this.#byNetwork.delete(hold.network);
  }

  /**
   * Returns the hold to abort in favor of a new one: the newest hold of the network that holds the most. Returns undefined if no other
   * network holds more than the network of the new hold (the new hold included), or if the new hold has no network.
   */
  findHoldToAbort({ network, bytes }: Hold): Hold | undefined {
    if (network === null) return undefined;
    const own = (this.#byNetwork.get(network)?.bytes ?? 0) + bytes;
    let largest: NetworkHolds | undefined;
    for (const [name, holds] of this.#byNetwork) if (name !== network && holds.bytes > (largest?.bytes ?? own)) largest = holds;
    return largest?.newest;
  }
}

/** Limits the memory of requests and responses that wait for slow clients or for their turn. */
export class HeldMemory {
  readonly #limits: MemoryLimits;
  readonly #messageName: MessageName;
  readonly #holdsByLimit = new Map<string, LimitedHolds>();

  /** @param messageName message of the refusal if a limit is reached */
  constructor(limits: MemoryLimits, messageName: MessageName) {
    this.#limits = limits;
    this.#messageName = messageName;
  }

  /**
   * Counts bytes until they are released. At a limit, aborts the newest holds of the wide network that holds the most, if it holds more
   * than the network of the new hold (the new hold included).
   * @param holders names of the link, network or other holder whose limits apply to the bytes, by kind
   * @param abort ends the request or the response in favor of another network
   * @returns a function that releases the bytes
   * @throws Refusal (503) if too many bytes are held already, for one holder or in total
   */
  hold(holders: MemoryHolders, bytes: number, abort: () => void): () => void {
    const holderOf = new Map<string, string>(Object.entries({ ...holders, all: '' }));
    const limitsOfHold = Object.entries(this.#limits).map(([kind, limit]) => ({ name: `${kind} ${holderOf.get(kind) ?? ''}`, limit }));
    const limitNames = limitsOfHold.map(({ name }) => name);
    const newHold: Hold = { bytes, network: holders.wideNetwork ?? null, limitNames, abort, isReleased: false };
    for (const { name, limit } of limitsOfHold) this.#makeSpace(name, limit, newHold);
    for (const name of limitNames) {
      const holds = this.#holdsByLimit.get(name) ?? new LimitedHolds();
      this.#holdsByLimit.set(name, holds);
      holds.add(newHold);
    }
    return () => this.#release(newHold);
  }

  #release(hold: Hold): void {
    if (hold.isReleased) return;
    hold.isReleased = true;
    for (const name of hold.limitNames) {
      const holds = this.#holdsByLimit.get(name);
      holds?.remove(hold);
      if (holds?.bytes === 0) this.#holdsByLimit.delete(name);
    }
  }

  #makeSpace(name: string, limit: number, newHold: Hold): void {
    for (;;) {
      const holds = this.#holdsByLimit.get(name);
      if ((holds?.bytes ?? 0) + newHold.bytes <= limit) return;
      const holdToAbort = holds?.findHoldToAbort(newHold);
      if (!holdToAbort) throw new Refusal(this.#messageName, undefined, { retryAfter });
      this.#release(holdToAbort);
      holdToAbort.abort();
    }
  }
}
