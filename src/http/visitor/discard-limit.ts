import { narrowNetworkOf } from '#core/client-networks.ts';
import { addCount } from '#core/count-by-key.ts';

/** Maximum number of bodies that are discarded at the same time: of one network, and in total. */
const maxBodies = { network: 4, all: 16 };

/**
 * Limits how many bodies of refused uploads are discarded at the same time. Clients send them as fast as they can, and in one iteration
 * of the event loop Node.js reads up to two megabytes from each connection: hundreds of them would delay all other requests.
 */
export class DiscardLimit {
  readonly #byNetwork = new Map<string, number>();
  #all = 0;

  /** Takes a place. @param address of the client @returns a function that gives it back; null: the connection must be closed instead */
  take(address: string): (() => void) | null {
    const network = narrowNetworkOf(address);
    if (this.#all >= maxBodies.all || (this.#byNetwork.get(network) ?? 0) >= maxBodies.network) return null;
    this.#count(network, 1);
    let isTaken = true;
    return () => {
      if (isTaken) this.#count(network, -1);
      isTaken = false;
    };
  }

  #count(network: string, difference: 1 | -1): void {
    this.#all += difference;
    addCount(this.#byNetwork, network, difference);
  }
}
