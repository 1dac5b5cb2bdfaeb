import type { IncomingMessage, ServerResponse } from 'node:http';
import { wideNetworkOf } from '#core/client-networks.ts';
import { onceClosed } from './connections/disconnect.ts';
import { HeldMemory } from './held-memory.ts';

const limits = { network: 32 << 20, all: 96 << 20 }; // bytes, for a wide network and in total
const longBody = 1 << 13; // bytes: shorter bodies are not counted, because the limit on connections bounds their memory

/** Limits the memory of JSON bodies that have begun to arrive: a client may withhold the last byte of each. */
export interface ArrivingBodies {
  /**
   * Counts a body until it has arrived, or until its response is closed: nobody reads the rest of a refused body, so it never ends.
   * @param maxBytes limit of the route for a body
   * @throws Refusal (503) if too many bytes are arriving already
   */
  expect(request: IncomingMessage, response: ServerResponse, address: string, maxBytes: number): void;
}

export function arrivingBodies(): ArrivingBodies {
  const memory = new HeldMemory(limits, 'bodiesBusy');
  return {
    expect(request, response, address, maxBytes) {
      const bytes = Math.min(Number(request.headers['content-length'] ?? maxBytes), maxBytes);
      if (bytes < longBody) return;
      const release = memory.hold({ network: wideNetworkOf(address) }, bytes, () => request.destroy());
      request.once('end', release);
      onceClosed(response, release);
    },
  };
}
