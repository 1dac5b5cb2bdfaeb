import { narrowNetworkOf, wideNetworkOf } from '#core/client-networks.ts';
import { Refusal } from '#core/messages.ts';

/** Uploads at once from one network, from one wide network, and at one link. Each holds a connection and two file descriptors. */
const maxUploads = { network: 64, wide: 128, link: 256 };
const retryAfter = 5; // seconds

/** An upload in progress. */
interface RunningUpload {
  readonly network: string;
  readonly wide: string;
  readonly viewId: string;
  /** Ends the upload in favour of another one. */
  readonly cut: () => void;
}

/**
 * Limits how many uploads run at once, so that one visitor cannot block the uploads of others. At a link that has no slot left,
 * the wide network with most uploads loses its newest one to a network that has fewer.
 */
export interface UploadSlots {
  /**
   * Takes a slot.
   * @param cut ends the upload: called if its slot goes to another network
   * @returns a function that must be called at the end of the upload
   * @throws Refusal (503) if too many uploads run
   */
  take(address: string, viewId: string, cut: () => void): () => void;
}

const busy = () => new Refusal('uploadsBusy', undefined, { retryAfter });

/** Returns the upload to cut for a newcomer. @throws Refusal (503) if its own network has as many as the largest */
function uploadToCut(ofLink: readonly RunningUpload[], newcomer: RunningUpload): RunningUpload {
  const byNetwork = Map.groupBy(ofLink, ({ wide }) => wide);
  const largest = [...byNetwork.values()].reduce((one, other) => (other.length > one.length ? other : one), []);
  const newest = largest.at(-1);
  if (!newest || largest.length <= (byNetwork.get(newcomer.wide)?.length ?? 0) + 1) throw busy();
  return newest;
}

export function uploadSlots(): UploadSlots {
  const running = new Set<RunningUpload>(); // in the order of their begin
  const matching = (matches: (upload: RunningUpload) => boolean) => [...running].filter(matches);
  return {
    take(address, viewId, cut) {
      const upload = { network: narrowNetworkOf(address), wide: wideNetworkOf(address), viewId, cut };
      if (matching(({ network }) => network === upload.network).length >= maxUploads.network) throw busy();
      if (matching(({ wide }) => wide === upload.wide).length >= maxUploads.wide) throw busy();
      const ofLink = matching((other) => other.viewId === viewId);
      if (ofLink.length >= maxUploads.link) {
        const loser = uploadToCut(ofLink, upload);
        running.delete(loser);
        loser.cut();
      }
      running.add(upload);
      return () => void running.delete(upload);
    },
  };
}
