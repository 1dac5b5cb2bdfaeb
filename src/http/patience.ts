import type { IncomingMessage } from 'node:http';
import { Refusal } from '#core/messages.ts';

/** How long a client may keep us waiting; ms. */
export interface Patience {
  /** For the whole of a JSON body. */
  readonly body: number;
  /** For the next byte of a transfer, in either direction. */
  readonly stalled: number;
}

export const defaultPatience: Patience = { body: 30_000, stalled: 60_000 };

/** Refuses a body that does not come: whoever reads it is told by its error. */
export function expectBody(request: IncomingMessage, { body }: Patience): void {
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
export function expectProgress(request: IncomingMessage, { stalled }: Patience): void {
  const { socket } = request;
  socket.setTimeout(stalled);
  if (!request.complete) request.once('end', () => socket.setTimeout(0));
}
