import type { IncomingMessage, ServerResponse } from 'node:http';
import { wideNetworkOf } from '#core/client-networks.ts';
import { Refusal } from '#core/messages.ts';
import { waitingLimit } from '#features/turns/waiting-limit.ts';
import { maxBodyBytes } from './body-limits.ts';
import { onceClosed } from './connections/disconnect.ts';
import { HeldMemory } from './held-memory.ts';

const limits = { wideNetwork: 32 << 20, all: 96 << 20 }; // bytes, for a wide network and in total
const longBody = 1 << 13; // bytes: the memory of shorter bodies is not counted, because their number has a limit
const retryAfter = 5; // seconds

/** Limits the bodies that are still arriving, except files: a client may withhold the last byte of each. */
export interface ArrivingBodies {
  /**
   * Counts a body until it has arrived, or until its response is closed: nobody reads the rest of a refused body, so it never ends.
   * @param maxBytes limit of the route for a body
   * @throws Refusal (503) if too many bodies or bytes are arriving, unless a request of a network with more of them can be ended instead
   */
  expect(request: IncomingMessage, response: ServerResponse, address: string, maxBytes: number): void;
}

/**
 * @param maxConnections of the server. Unfinished bodies of a wide network may occupy half of the connections, and those of all
 *   networks three quarters. The limit of connections by site does not suffice: behind a proxy, all connections come from one address.
 */
export function arrivingBodies(maxConnections: number): ArrivingBodies {
  const memory = new HeldMemory(limits, 'bodiesBusy');
  const max = { inner: Math.ceil(maxConnections / 2), all: Math.ceil((3 * maxConnections) / 4) };
  const bodies = waitingLimit(max, () => new Refusal('bodiesBusy', undefined, { retryAfter }));
  return {
    expect(request, response, address, maxBytes) {
      const wideNetwork = wideNetworkOf(address);
      const body = { inner: wideNetwork, largeGroups: [wideNetwork], refuse: () => request.destroy() };
      const onceDone = (work: () => void) => {
        request.once('end', work);
        onceClosed(response, work);
      };
      bodies.add(body);
      onceDone(() => bodies.remove(body));
      const bytes = Math.min(Number(request.headers['content-length'] ?? maxBytes), maxBytes);
      if (bytes < longBody) return;
      const release = memory.hold({ wideNetwork }, bytes, () => request.destroy());
      // Such a long body contains a file, which may wait in memory for its turn after the body has arrived.
      if (bytes > maxBodyBytes) onceClosed(response, release);
      else onceDone(release);
    },
  };
}
