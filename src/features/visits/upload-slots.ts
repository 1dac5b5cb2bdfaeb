import { addCount } from '#core/count-by-key.ts';
import { Refusal } from '#core/messages.ts';
import { networkOf } from '#core/policy/address-range.ts';

/** Uploads at once: from one network, and at one link. Each holds a connection and two descriptors. */
const most = { network: 64, link: 256 };
const retryAfter = 5; // seconds

/** Bounds how many uploads are under way, so that one visitor leaves room for others. */
export interface UploadSlots {
  /** @returns to be called at the end of the upload. @throws 503 where too many are under way */
  take(address: string, viewId: string): () => void;
}

export function uploadSlots(): UploadSlots {
  const taken = new Map<string, number>();
  return {
    take(address, viewId) {
      const [network, link] = [`network ${networkOf(address, 32, 64)}`, `link ${viewId}`];
      if ((taken.get(network) ?? 0) >= most.network || (taken.get(link) ?? 0) >= most.link)
        throw new Refusal('uploadsBusy', undefined, { retryAfter });
      addCount(taken, network, 1);
      addCount(taken, link, 1);
      return () => {
        addCount(taken, network, -1);
        addCount(taken, link, -1);
      };
    },
  };
}
