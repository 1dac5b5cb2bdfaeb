import { addCount } from '#core/count-by-key.ts';
import { Refusal } from '#core/messages.ts';
import { wideNetworkOf } from '#features/turns/visitor-turns.ts';

const free = 1 << 16; // bytes of each archive that do not count: connections are bounded
const mostBytes = 64 << 20; // of all archives together; half of it for those of one network
const retryAfter = 5; // seconds

/** Memory for the names that an archive holds while it is made. */
export interface NameMemory {
  /** Says how many bytes it holds now. @throws 503 where its network's archives, or all together, would hold too many */
  hold(bytes: number): void;
}

/** Returns a function that begins the memory of an archive for an address. @param most bytes of all archives together */
export function nameMemory(most = mostBytes): (address: string) => NameMemory {
  const networks = new Map<string, number>(); // bytes
  let all = 0;
  return (address) => {
    const network = wideNetworkOf(address);
    let own = 0;
    return {
      hold(bytes) {
        const more = Math.max(0, bytes - free) - own;
        const isTooMuch = all + more > most || (networks.get(network) ?? 0) + more > most / 2;
        if (more > 0 && isTooMuch) throw new Refusal('listingBusy', undefined, { retryAfter });
        all += more;
        own += more;
        addCount(networks, network, more);
      },
    };
  };
}
