import { addCount, largestKey } from '#core/count-by-key.ts';
import { type MessageName, Refusal } from '#core/messages.ts';

const retryAfter = 5; // seconds

/** Kinds of holders. At a limit, a wide network may lose its memory to another one: see `HeldMemory.hold`. */
type HolderKind = 'wideNetwork' | 'link' | 'portal' | 'tenant';
/** The holders that memory counts for, by kind. */
export type MemoryHolders = Readonly<Partial<Record<HolderKind, string>>>;
/** Maximum bytes at one time: for each holder, by its kind, and in total. */
export type MemoryLimits = Readonly<Partial<Record<HolderKind, number>>> & { readonly all: number };

/** Memory that a request or a response occupies until its client has sent or read the rest. */
interface Hold {
  readonly bytes: number;
  readonly network: string | null; // the wide one
  /** Names of the limits that it counts for. */
  readonly limits: readonly string[];
  readonly abort: () => void;
}

/** Returns the hold to abort in favor of a new one: the newest of the network that holds most; undefined if the new one is of that network. */
function findHoldToAbort(holds: readonly Hold[], newHold: Hold): Hold | undefined {
  if (newHold.network === null) return undefined;
  const bytesByNetwork = new Map([[newHold.network, newHold.bytes]]);
  for (const { network, bytes } of holds) if (network !== null) addCount(bytesByNetwork, network, bytes);
  const largest = largestKey(bytesByNetwork);
  return largest === newHold.network ? undefined : holds.findLast(({ network }) => network === largest);
}

/** Limits the memory that slow clients occupy. */
export class HeldMemory {
  readonly #limits: MemoryLimits;
  readonly #messageName: MessageName;
  readonly #holds = new Set<Hold>(); // in the order in which they began
  readonly #bytesByLimit = new Map<string, number>();

  /** @param messageName refusal beyond a limit */
  constructor(limits: MemoryLimits, messageName: MessageName) {
    this.#limits = limits;
    this.#messageName = messageName;
  }

  /**
   * Counts bytes until they are released. At a limit, aborts the newest holds of the wide network that holds most, unless the new one is
   * of that network.
   * @param holders name of the link, network or other holder that they count for, by the kinds of the limits
   * @param abort ends the request or the response in favor of another network
   * @returns a function that releases the bytes
   * @throws Refusal (503) if too many bytes are held already, for one holder or in total
   */
  hold(holders: MemoryHolders, bytes: number, abort: () => void): () => void {
    const limits = Object.entries(this.#limits);
    const holderOf = new Map<string, string>(Object.entries({ ...holders, all: '' }));
    const counted = limits.map(([kind, limit]) => ({ kind, name: `${kind} ${holderOf.get(kind) ?? ''}`, limit }));
    const newHold = { bytes, network: holders.wideNetwork ?? null, limits: counted.map(({ name }) => name), abort };
    for (const { kind, name, limit } of counted) this.#makeSpace(kind, name, limit, newHold);
    this.#holds.add(newHold);
    for (const { name } of counted) addCount(this.#bytesByLimit, name, bytes);
    return () => this.#release(newHold);
  }

  #release(hold: Hold): void {
    if (!this.#holds.delete(hold)) return;
    for (const name of hold.limits) addCount(this.#bytesByLimit, name, -hold.bytes);
  }

  #makeSpace(kind: string, name: string, limit: number, newHold: Hold): void {
    while ((this.#bytesByLimit.get(name) ?? 0) + newHold.bytes > limit) {
      // At the limit of a wide network, all holds are of the same network as the new one.
      const otherHolds = kind === 'wideNetwork' ? [] : [...this.#holds].filter(({ limits }) => limits.includes(name));
      const holdToAbort = findHoldToAbort(otherHolds, newHold);
      if (!holdToAbort) throw new Refusal(this.#messageName, undefined, { retryAfter });
      this.#release(holdToAbort);
      holdToAbort.abort();
    }
  }
}
