import { maxPieces } from '#adapters/net/max-pieces.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';

const minRate = 8; // bytes per ms: a service must be faster on average
const maxDelay = 60_000; // ms that a service may be late

/**
 * Yields the pieces of a response, as long as the service sends them fast enough. The caller's time for each piece does not count.
 * @param monotonic ms
 * @throws StorageUnavailable if the service is too slow, or sends too many small pieces
 */
export async function* enforceMinRate(body: AsyncIterable<Uint8Array>, monotonic: () => number): AsyncGenerator<Uint8Array> {
  let [bytes, pieces, waitTime, since] = [0, 0, 0, monotonic()];
  for await (const piece of body) {
    waitTime += monotonic() - since;
    bytes += piece.length;
    pieces += 1;
    if (waitTime > maxDelay + bytes / minRate) throw new StorageUnavailable('the service sends too slowly');
    if (pieces > maxPieces(bytes)) throw new StorageUnavailable('the service sends too many small pieces');
    yield piece;
    since = monotonic();
  }
}
