import { addCount, largestKey } from '#core/count-by-key.ts';
import { type MessageName, Refusal } from '#core/messages.ts';

const retryAfter = 5; // seconds

/** Maximum bytes at one time: for each holder, by its kind, and in total. */
export type MemoryLimits = Readonly<Record<string, number>> & { readonly all: number };

/** Memory that a request or a response occupies until its client has sent or read the rest. */
interface Hold {
  readonly bytes: number;
  readonly network: string | null;
  /** Names of the limits that it counts for. */
  readonly limits: readonly string[];
  readonly abort: () => void;
}

/** Returns what to abort in favor of a newcomer: the newest of the network that holds most, undefined if that is the newcomer's. */
function findLoser(held: readonly Hold[], newcomer: Hold): Hold | undefined {
  if (newcomer.network === null) return undefined;
  const bytesByNetwork = new Map([[newcomer.network, newcomer.bytes]]);
  for (const { network, bytes } of held) if (network !== null) addCount(bytesByNetwork, network, bytes);
  const largest = largestKey(bytesByNetwork);
  return largest === newcomer.network ? undefined : held.findLast(({ network }) => network === largest);
}

/** Limits the memory that slow clients occupy. */
export class HeldMemory {
  readonly #limits: MemoryLimits;
  readonly #messageName: MessageName;
  readonly #held = new Set<Hold>(); // in the order in which they began
  readonly #bytesByLimit = new Map<string, number>();

  /** @param messageName refusal beyond a limit */
  constructor(limits: MemoryLimits, messageName: MessageName) {
    this.#limits = limits;
    this.#messageName = messageName;
  }

  /**
   * Counts bytes until they are released. If there is no memory left, the network that holds most loses its newest ones, unless the
   * newcomer is its own.
   * @param holders name of the link, network or other holder that they count for, by the kinds of the limits
   * @param abort ends the request or the response in favor of another network
   * @returns releases the bytes
   * @throws 503 if too many bytes are held already, for one holder or in total
   */
  hold(holders: Readonly<Record<string, string>>, bytes: number, abort: () => void): () => void {
    const kinds = Object.entries({ ...holders, all: '' });
    const counted = kinds.map(([kind, holder]) => ({ kind, name: `${kind} ${holder}`, limit: this.#limits[kind] ?? 0 }));
    const newcomer = { bytes, network: holders['network'] ?? null, limits: counted.map(({ name }) => name), abort };
    for (const { kind, name, limit } of counted) this.#makeSpace(kind, name, limit, newcomer);
    this.#held.add(newcomer);
    for (const { name } of counted) addCount(this.#bytesByLimit, name, bytes);
    return () => this.#release(newcomer);
  }

  #release(hold: Hold): void {
    if (!this.#held.delete(hold)) return;
    for (const name of hold.limits) addCount(this.#bytesByLimit, name, -hold.bytes);
  }

  #makeSpace(kind: string, name: string, limit: number, newcomer: Hold): void {
    while ((this.#bytesByLimit.get(name) ?? 0) + newcomer.bytes > limit) {
      // What counts for the limit of a network is the newcomer's own.
      const rivals = kind === 'network' ? [] : [...this.#held].filter(({ limits }) => limits.includes(name));
      const loser = findLoser(rivals, newcomer);
      if (!loser) throw new Refusal(this.#messageName, undefined, { retryAfter });
      this.#release(loser);
      loser.abort();
    }
  }
}
