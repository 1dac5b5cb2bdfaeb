import { addCount } from '#core/count-by-key.ts';
import { Refusal } from '#core/messages.ts';
import { networkOf } from '#core/policy/address-range.ts';
import { wideNetworkOf } from '#features/turns/visitor-turns.ts';

/** Uploads at once from one network, from one wide network, and at one link. Each holds a connection and two file descriptors. */
const maxUploads = { network: 64, wide: 128, link: 256 };
const retryAfter = 5; // seconds

/** Limits how many uploads run at once, so that one visitor cannot block the uploads of others. */
export interface UploadSlots {
  /** Takes a slot. @returns a function that must be called at the end of the upload @throws Refusal (503) if too many uploads run */
  take(address: string, viewId: string): () => void;
}

export function uploadSlots(): UploadSlots {
  const uploadCounts = new Map<string, number>();
  return {
    take(address, viewId) {
      const slots = [
        { name: `network ${networkOf(address, 32, 64)}`, max: maxUploads.network },
        { name: `wide network ${wideNetworkOf(address)}`, max: maxUploads.wide },
        { name: `link ${viewId}`, max: maxUploads.link },
      ];
      if (slots.some(({ name, max }) => (uploadCounts.get(name) ?? 0) >= max)) throw new Refusal('uploadsBusy', undefined, { retryAfter });
      for (const { name } of slots) addCount(uploadCounts, name, 1);
      return () => {
        for (const { name } of slots) addCount(uploadCounts, name, -1);
      };
    },
  };
}
