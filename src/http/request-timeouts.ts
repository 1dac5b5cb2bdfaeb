import type { IncomingMessage } from 'node:http';
import { Refusal } from '#core/messages.ts';

/** How long a client may keep us waiting; ms. */
export interface RequestTimeouts {
  /** For the whole of a JSON body. */
  readonly body: number;
  /** For the next byte of a transfer, in either direction. */
  readonly stalled: number;
  /** For an upload: so many bytes must come in so many ms that we wait for them. */
  readonly leastRate: { readonly bytes: number; readonly within: number };
}

/** An upload of less than 1 KiB a second is slower than any line: it only holds what others need. */
export const defaultTimeouts: RequestTimeouts = { body: 30_000, stalled: 60_000, leastRate: { bytes: 61_440, within: 60_000 } };

/** Hands on the pieces of an upload. Our own time, while a piece is written, does not count. @throws 408 where they come too slowly */
export async function* expectRate(
  pieces: AsyncIterable<Uint8Array>,
  { leastRate: { bytes, within } }: RequestTimeouts,
  now: () => number,
): AsyncGenerator<Uint8Array> {
  let [received, waited, since] = [0, 0, now()];
  for await (const piece of pieces) {
    received += piece.length;
    waited += now() - since;
    if (waited >= within) {
      if (received < bytes) throw new Refusal('bodyTooSlow', `An upload must bring at least ${bytes} bytes in ${within / 1000} seconds.`);
      [received, waited] = [0, 0];
    }
    yield piece;
    since = now();
  }
}

/** Refuses a body that does not come: whoever reads it is told by its error. */
export function expectBody(request: IncomingMessage, { body }: RequestTimeouts): void {
  const late = setTimeout(() => {
    const refusal = new Refusal('bodyTooSlow', `A body of this kind must come within ${body / 1000} seconds.`);
    if (request.listenerCount('error') > 0) request.emit('error', refusal);
  }, body);
  request.once('end', () => clearTimeout(late)).once('close', () => clearTimeout(late));
}

/**
 * Closes the connection when nothing moves on it, until the body has come or the answer has gone (Node counts what
 * leaves the kernel's queue, and sets its own time between requests).
 */
export function expectProgress(request: IncomingMessage, { stalled }: RequestTimeouts): void {
  const { socket } = request;
  socket.setTimeout(stalled);
  if (!request.complete) request.once('end', () => socket.setTimeout(0));
}

/** The same for a body alone: once it is complete, the work that follows has no time limit. */
export function expectBodyProgress(request: IncomingMessage, timeouts: RequestTimeouts): void {
  if (!request.complete) expectProgress(request, timeouts);
}
