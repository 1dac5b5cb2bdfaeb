import { addCount } from '#core/count-by-key.ts';
import { Refusal } from '#core/messages.ts';

const limits = { changes: 256, bytes: 64 << 20 }; // for each tenant
const minBytes = 1 << 13; // memory of a request with a very short body
const retryAfter = 2; // seconds

/** Runs a change of a tenant. @throws 503 if too many of its changes are in progress. A change counts until it ends, even if its client has disconnected */
export type RunLimitedChange = <T>(tenant: number, bytes: number, change: () => Promise<T>) => Promise<T>;

/** Limits the changes in progress of each tenant, by number and bytes. */
export function limitChanges(): RunLimitedChange {
  const counts = new Map<string, number>();
  return async (tenant, bytes, change) => {
    const [changes, memory] = [`changes ${tenant}`, `bytes ${tenant}`];
    const weight = Math.max(bytes, minBytes);
    if ((counts.get(changes) ?? 0) >= limits.changes || (counts.get(memory) ?? 0) + weight > limits.bytes)
      throw new Refusal('changesBusy', 'Too many changes of your tenant are in progress. Try again in a few seconds.', { retryAfter });
    addCount(counts, changes, 1);
    addCount(counts, memory, weight);
    try {
      return await change();
    } finally {
      addCount(counts, changes, -1);
      addCount(counts, memory, -weight);
    }
  };
}
