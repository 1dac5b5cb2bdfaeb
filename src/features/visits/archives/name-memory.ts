import { wideNetworkOf } from '#core/client-networks.ts';
import { addCount } from '#core/count-by-key.ts';
import { Refusal } from '#core/messages.ts';

const freeBytes = 1 << 16; // bytes of each memory that are not counted, because the number of connections is limited
const maxBytes = 64 << 20; // of all archives together; the archives of one wide network may hold half of it
const retryAfter = 5; // seconds

/** Memory for names while an archive is created: names of the folders still to list, or names in its central directory. */
export interface NameMemory {
  /**
   * Sets how many bytes of this memory the archive holds now.
   * @throws Refusal (503) if the archives of its wide network, or all archives together, would hold too many
   */
  setBytes(bytes: number): void;
}

/** Returns a function that creates a name memory of an archive for a client address. @param maxTotal bytes of all archives together */
export function nameMemories(maxTotal = maxBytes): (address: string) => NameMemory {
  const bytesByNetwork = new Map<string, number>();
  let totalBytes = 0;
  return (address) => {
    const network = wideNetworkOf(address);
    let archiveBytes = 0;
    return {
      setBytes(bytes) {
        const difference = Math.max(0, bytes - freeBytes) - archiveBytes;
        const isTooMuch = totalBytes + difference > maxTotal || (bytesByNetwork.get(network) ?? 0) + difference > maxTotal / 2;
        if (difference > 0 && isTooMuch) throw new Refusal('listingBusy', undefined, { retryAfter });
        totalBytes += difference;
        archiveBytes += difference;
        addCount(bytesByNetwork, network, difference);
      },
    };
  };
}
