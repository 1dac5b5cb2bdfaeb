import type { ServerResponse } from 'node:http';
import { onceClosed } from './connections/disconnect.ts';
import { HeldMemory, type MemoryHolders, type MemoryLimits } from './held-memory.ts';

const largeResponse = 1 << 16; // bytes; smaller responses are not counted: the limit on connections is enough for them

/** Limits the memory of large responses that their clients have not read yet. */
export interface UnreadResponses {
  /**
   * Counts a large response until it is closed.
   * @param holders as `HeldMemory` takes them
   * @throws Refusal (503) if too many bytes wait already, for one holder or in total
   */
  hold(holders: MemoryHolders, bytes: number, response: ServerResponse): void;
}

/**
 * Creates limits for unread responses.
 * @param messageName refusal beyond a limit
 */
export function unreadResponses(limits: MemoryLimits, messageName: 'searchBusy' | 'listingBusy' = 'searchBusy'): UnreadResponses {
  const memory = new HeldMemory(limits, messageName);
  return {
    hold(holders, bytes, response) {
      if (bytes < largeResponse) return;
      onceClosed(
        response,
        memory.hold(holders, bytes, () => response.destroy()),
      );
    },
  };
}
