import type { ServerResponse } from 'node:http';
import { addCount } from '#core/count-by-key.ts';
import { Refusal } from '#core/messages.ts';
import { onceClosed } from './connections/client-left.ts';

const largeResponse = 1 << 16; // bytes: the limit on connections bounds the smaller ones
const retryAfter = 5; // seconds

/** Limits the memory of large responses that their clients have not read yet. */
export interface UnreadResponses {
  /**
   * Counts a response until it is closed.
   * @param holders name of the link, network or other holder that it counts for, by the kinds of the limits
   * @throws 503 if too many bytes wait already, for one holder or in total
   */
  hold(holders: Readonly<Record<string, string>>, bytes: number, response: ServerResponse): void;
}

/**
 * Creates limits for unread responses.
 * @param limits maximum bytes that wait at one time: for each holder, by its kind, and in total
 * @param messageName refusal beyond a limit
 */
export function unreadResponses(
  limits: Readonly<Record<string, number>> & { readonly all: number },
  messageName: 'searchBusy' | 'listingBusy' = 'searchBusy',
): UnreadResponses {
  const waiting = new Map<string, number>();
  return {
    hold(holders, bytes, response) {
      if (bytes < largeResponse) return;
      const counters = Object.entries({ ...holders, all: '' }).map(([kind, name]) => ({
        name: `${kind} ${name}`,
        limit: limits[kind] ?? 0,
      }));
      if (counters.some(({ name, limit }) => (waiting.get(name) ?? 0) + bytes > limit))
        throw new Refusal(messageName, undefined, { retryAfter });
      for (const { name } of counters) addCount(waiting, name, bytes);
      onceClosed(response, () => {
        for (const { name } of counters) addCount(waiting, name, -bytes);
      });
    },
  };
}
