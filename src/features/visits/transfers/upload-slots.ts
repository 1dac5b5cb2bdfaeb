import { addCount } from '#core/count-by-key.ts';
import { Refusal } from '#core/messages.ts';
import { networkOf } from '#core/policy/address-range.ts';
import { wideNetworkOf } from '#features/turns/visitor-turns.ts';

/** Uploads at once: from one network, from a wide one, and at one link. Each holds a connection and two descriptors. */
const most = { network: 64, wide: 128, link: 256 };
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
      const slots = [
        { name: `network ${networkOf(address, 32, 64)}`, bound: most.network },
        { name: `wide network ${wideNetworkOf(address)}`, bound: most.wide },
        { name: `link ${viewId}`, bound: most.link },
      ];
      if (slots.some(({ name, bound }) => (taken.get(name) ?? 0) >= bound)) throw new Refusal('uploadsBusy', undefined, { retryAfter });
      for (const { name } of slots) addCount(taken, name, 1);
      return () => {
        for (const { name } of slots) addCount(taken, name, -1);
      };
    },
  };
}
