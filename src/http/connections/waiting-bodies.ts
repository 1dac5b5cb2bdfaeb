import type { IncomingMessage } from 'node:http';
import { wideNetworkOf } from '#core/client-networks.ts';
import { HeldMemory } from '#http/held-memory.ts';

const limits = { wideNetwork: 16 << 20, all: 64 << 20 }; // bytes, for a wide network and in total
const maxRead = 1 << 16; // bytes of a body that Node.js reads before the request starts

/** Limits the memory of requests that wait for their turn: Node.js holds the beginning of each body, even if the client has left. */
export interface WaitingBodies {
  /**
   * Counts the bytes that Node.js may read of a body before the request starts. At a limit, may end requests of another wide network.
   * @param address of the client
   * @returns a function to call when the request starts, or is dropped
   * @throws Refusal (503) if too many bytes are held already, and no other network holds more than that of the client
   */
  hold(request: IncomingMessage, address: string): () => void;
}

export function waitingBodies(): WaitingBodies {
  const memory = new HeldMemory(limits, 'bodiesBusy');
  return {
    hold(request, address) {
      const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
      if (encoding === undefined && (length === undefined || length === '0')) return () => {};
      const bytes = Math.min(Number(length ?? maxRead), maxRead);
      return memory.hold({ wideNetwork: wideNetworkOf(address) }, bytes, () => request.destroy());
    },
  };
}
