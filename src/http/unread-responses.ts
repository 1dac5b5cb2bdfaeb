import type { ServerResponse } from 'node:http';
import { addCount } from '#core/count-by-key.ts';
import { Refusal } from '#core/messages.ts';
import { onceClosed } from './connections/client-left.ts';

const large = 1 << 16; // bytes: connections are bounded, so that smaller ones are too
const retryAfter = 5; // seconds

/** Memory of large answers that their clients have not taken yet. */
export interface UnreadResponses {
  /**
   * Counts an answer until it has gone.
   * @param holders who asks for it, as the bounds name them
   * @throws 503 where too much waits already, of one of them or of all
   */
  hold(holders: Readonly<Record<string, string>>, bytes: number, response: ServerResponse): void;
}

/**
 * @param most bytes that wait at one time: of each holder, by its kind, and of all
 * @param says what is answered beyond
 */
export function unreadResponses(
  most: Readonly<Record<string, number>> & { readonly all: number },
  says: 'searchBusy' | 'listingBusy' = 'searchBusy',
): UnreadResponses {
  const held = new Map<string, number>();
  return {
    hold(holders, bytes, response) {
      if (bytes < large) return;
      const names = Object.entries({ ...holders, all: '' }).map(([kind, name]) => ({ name: `${kind} ${name}`, bound: most[kind] ?? 0 }));
      if (names.some(({ name, bound }) => (held.get(name) ?? 0) + bytes > bound)) throw new Refusal(says, undefined, { retryAfter });
      for (const { name } of names) addCount(held, name, bytes);
      onceClosed(response, () => {
        for (const { name } of names) addCount(held, name, -bytes);
      });
    },
  };
}
