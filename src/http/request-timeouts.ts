import type { IncomingMessage, ServerResponse } from 'node:http';
import { Refusal } from '#core/messages.ts';
import { onceClosed } from './connections/disconnect.ts';

/** Limits for slow clients, in milliseconds. */
export interface RequestTimeouts {
  /** Until a body that is not a file, such as JSON or a form, is complete. */
  readonly body: number;
  /** Until the next byte of an upload or of a response. */
  readonly idle: number;
  /** Minimum rate of an upload: `bytes` in each `within` ms that Postern waits for them. */
  readonly minRate: { readonly bytes: number; readonly within: number };
}

/** The default limits. No real network is slower than 1 KiB a second: a slower upload only occupies resources. */
export const defaultTimeouts: RequestTimeouts = { body: 30_000, idle: 60_000, minRate: { bytes: 61_440, within: 60_000 } };

/**
 * Passes on the pieces of an upload. The time that Postern takes to write a piece does not count.
 * @throws Refusal (408) if they arrive too slowly
 */
export async function* expectRate(
  pieces: AsyncIterable<Uint8Array>,
  { minRate: { bytes, within } }: RequestTimeouts,
  now: () => number,
): AsyncGenerator<Uint8Array> {
  let [receivedBytes, waitedTime, waitingSince] = [0, 0, now()];
  for await (const piece of pieces) {
    receivedBytes += piece.length;
    waitedTime += now() - waitingSince;
    if (waitedTime >= within) {
      if (receivedBytes < bytes)
        throw new Refusal('bodyTooSlow', `An upload must send at least ${bytes} bytes in ${within / 1000} seconds.`);
      [receivedBytes, waitedTime] = [0, 0];
    }
    yield piece;
    waitingSince = now();
  }
}

/** Refuses a body that is not complete in time. The reader of the body receives the refusal as an error. */
export function expectBody(request: IncomingMessage, response: ServerResponse, { body }: RequestTimeouts): void {
  const timer = setTimeout(() => {
    const refusal = new Refusal('bodyTooSlow', `The body must be complete within ${body / 1000} seconds.`);
    if (request.listenerCount('error') > 0) request.emit('error', refusal);
  }, body);
  request.once('end', () => clearTimeout(timer));
  onceClosed(response, () => clearTimeout(timer));
}

/**
 * Closes the connection when no bytes move on it: until the body is complete, or, if it is complete already, until the response is sent.
 * Node.js counts bytes as sent when the kernel accepts them, and sets its own timeout after the response.
 */
export function expectProgress(request: IncomingMessage, { idle }: RequestTimeouts): void {
  const { socket } = request;
  socket.setTimeout(idle);
  if (!request.complete) request.once('end', () => socket.setTimeout(0));
}

/**
 * Passes on the pieces of a body. Closes its connection when no bytes arrive, but not while the caller processes a piece: a storage in a
 * network may take minutes for a part.
 */
export async function* keepOpenWhileProcessing(
  pieces: AsyncIterable<Uint8Array>,
  { socket }: Pick<IncomingMessage, 'socket'>,
  { idle }: RequestTimeouts,
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    socket.setTimeout(0);
    yield piece;
    socket.setTimeout(idle);
  }
  socket.setTimeout(0);
}

/** Closes the connection when no bytes of a body arrive. Once the body is complete, the work that follows has no time limit. */
export function expectBodyProgress(request: IncomingMessage, timeouts: RequestTimeouts): void {
  if (!request.complete) expectProgress(request, timeouts);
}
