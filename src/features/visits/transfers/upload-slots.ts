import { narrowNetworkOf, wideNetworkOf } from '#core/client-networks.ts';
import { Refusal } from '#core/messages.ts';

/** Maximum number of simultaneous uploads from one network, from one wide network, and at one link. */
const maxUploads = { network: 64, wide: 128, link: 256 };
const retryAfter = 5; // seconds

/** An upload, or a part of one, in progress. */
interface RunningUpload {
  readonly network: string;
  readonly wide: string;
  readonly viewId: string;
  /** Ends the upload in favor of another one. */
  readonly abort: () => void;
}

/**
 * Limits how many uploads run at once, so that one visitor cannot block the uploads of others. At a link that has no slot left,
 * the wide network with the most uploads loses its newest one to a wide network that has at least two fewer.
 */
export interface UploadSlots {
  /**
   * Takes a slot.
   * @param abort ends the upload: called if its slot goes to another wide network
   * @returns a function that must be called at the end of the upload
   * @throws Refusal (503) if too many uploads run
   */
  take(address: string, viewId: string, abort: () => void): () => void;
}

const busyRefusal = () => new Refusal('uploadsBusy', undefined, { retryAfter });

/** Returns the upload to abort for a newcomer. @throws Refusal (503) if the newcomer's wide network would have as many as any */
function uploadToAbort(uploadsAtLink: readonly RunningUpload[], newcomer: RunningUpload): RunningUpload {
  const byNetwork = Map.groupBy(uploadsAtLink, ({ wide }) => wide);
  const largest = [...byNetwork.values()].reduce((one, other) => (other.length > one.length ? other : one), []);
  const newest = largest.at(-1);
  if (!newest || largest.length <= (byNetwork.get(newcomer.wide)?.length ?? 0) + 1) throw busyRefusal();
  return newest;
}

export function uploadSlots(): UploadSlots {
  const running = new Set<RunningUpload>(); // in the order in which they began
  const runningUploads = (matches: (upload: RunningUpload) => boolean) => [...running].filter(matches);
  return {
    take(address, viewId, abort) {
      const upload = { network: narrowNetworkOf(address), wide: wideNetworkOf(address), viewId, abort };
      if (runningUploads(({ network }) => network === upload.network).length >= maxUploads.network) throw busyRefusal();
      if (runningUploads(({ wide }) => wide === upload.wide).length >= maxUploads.wide) throw busyRefusal();
      const uploadsAtLink = runningUploads((other) => other.viewId === viewId);
      if (uploadsAtLink.length >= maxUploads.link) {
        const uploadToEnd = uploadToAbort(uploadsAtLink, upload);
        running.delete(uploadToEnd);
        uploadToEnd.abort();
      }
      running.add(upload);
      return () => void running.delete(upload);
    },
  };
}
