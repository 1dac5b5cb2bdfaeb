import type { ServerResponse } from 'node:http';
import { addCount, largestKey } from '#core/count-by-key.ts';
import { Refusal } from '#core/messages.ts';
import { onceClosed } from './connections/disconnect.ts';

const largeResponse = 1 << 16; // bytes: the limit on connections bounds the smaller ones
const retryAfter = 5; // seconds

/** Limits the memory of large responses that their clients have not read yet. */
export interface UnreadResponses {
  /**
   * Counts a response until it is closed. If there is no memory left, the network that holds most loses its newest response, unless
   * the response is its own.
   * @param holders name of the link, network or other holder that it counts for, by the kinds of the limits
   * @throws 503 if too many bytes wait already, for one holder or in total
   */
  hold(holders: Readonly<Record<string, string>>, bytes: number, response: ServerResponse): void;
}

/** A response that its client has not read completely. */
interface UnreadResponse {
  readonly response: ServerResponse;
  readonly bytes: number;
  readonly network: string | null;
  /** Names of the limits that it counts for. */
  readonly limits: readonly string[];
}

/**
 * Returns the response to end in favor of a newcomer: the newest one of the network that holds most.
 * @returns undefined if no network holds more than that of the newcomer would
 */
function findLoser(held: readonly UnreadResponse[], newcomer: UnreadResponse): UnreadResponse | undefined {
  if (newcomer.network === null) return undefined;
  const bytesByNetwork = new Map([[newcomer.network, newcomer.bytes]]);
  for (const { network, bytes } of held) if (network !== null) addCount(bytesByNetwork, network, bytes);
  const largest = largestKey(bytesByNetwork);
  return largest === newcomer.network ? undefined : held.findLast(({ network }) => network === largest);
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
  const held = new Set<UnreadResponse>(); // in the order in which they began
  const bytesByLimit = new Map<string, number>();
  function release(unread: UnreadResponse): void {
    if (!held.delete(unread)) return;
    for (const name of unread.limits) addCount(bytesByLimit, name, -unread.bytes);
  }
  function makeSpace(name: string, limit: number, newcomer: UnreadResponse): void {
    while ((bytesByLimit.get(name) ?? 0) + newcomer.bytes > limit) {
      const loser = findLoser(
        [...held].filter(({ limits: names }) => names.includes(name)),
        newcomer,
      );
      if (!loser) throw new Refusal(messageName, undefined, { retryAfter });
      release(loser);
      loser.response.destroy();
    }
  }
  return {
    hold(holders, bytes, response) {
      if (bytes < largeResponse) return;
      const counted = Object.entries({ ...holders, all: '' }).map(([kind, holder]) => ({
        name: `${kind} ${holder}`,
        limit: limits[kind] ?? 0,
      }));
      const unread = { response, bytes, network: holders.network ?? null, limits: counted.map(({ name }) => name) };
      for (const { name, limit } of counted) makeSpace(name, limit, unread);
      held.add(unread);
      for (const { name } of counted) addCount(bytesByLimit, name, bytes);
      onceClosed(response, () => release(unread));
    },
  };
}
