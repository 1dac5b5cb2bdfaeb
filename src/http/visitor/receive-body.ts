import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IncomingBody } from '#features/visits/files/upload-file.ts';
import { expectBodyProgress, expectRate, keepOpenWhileProcessing } from '#http/request-timeouts.ts';
import { resetConnection } from './send-file.ts';
import type { VisitorParts } from './visitor-request.ts';

const smallPiece = 4096; // bytes
const drainTimeout = 5000; // ms for a client to finish sending a refused body, so that it can read the response

/** Frees a piece at once if it has its memory for itself: collecting such pieces would need many garbage collections of the whole heap. */
function free({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0); // nothing else is in this memory
}

/**
 * Yields the pieces of a body, and joins small ones: an HTTP chunk may hold one byte. A piece must not be used after the next one was
 * requested. If the caller stops early, the body stays open, so that a refusal can be sent.
 */
async function* piecesOf(body: IncomingMessage): AsyncGenerator<Buffer> {
  for await (const piece of body.iterator({ destroyOnReturn: false })) {
    const buffered = piece.length < smallPiece && body.readableLength > 0 ? body.read(body.readableLength) : null;
    yield buffered === null ? piece : Buffer.concat([piece, buffered]);
    free(piece);
  }
}

const expectsContinue = ({ headers }: IncomingMessage) => /^100-continue$/i.test(headers.expect ?? '');

/** Closes the connection when the response is sent and the body has arrived. Node.js would not wait for the body. */
function closeAfterBody(request: IncomingMessage, response: ServerResponse): void {
  response.shouldKeepAlive = true;
  const close = () => request.complete && response.writableFinished && request.socket.end();
  request.once('end', close);
  response.once('finish', close);
}

/**
 * Discards the rest of a refused body, for at most five seconds. The connection stays open until then, even if the request says
 * `Connection: close`: a client that writes to a closed connection gets an error and never reads the response. If too many bodies are
 * being discarded already, the connection is closed after the response.
 * @param isRequested whether all checks have passed, so that the body was requested. A client that still waits for 100 Continue sends
 *   no body: its connection is closed after the response
 */
function discardBody({ raw, ip }: FastifyRequest, reply: FastifyReply, { discards }: VisitorParts, isRequested: boolean): void {
  if (raw.complete) return;
  const release = discards.take(ip);
  if (!release) return void reply.header('connection', 'close'); // the client may get an error instead of the response
  raw.once('end', release).once('close', release);
  if (!isRequested && expectsContinue(raw)) reply.header('connection', 'close');
  else if (!reply.raw.shouldKeepAlive) closeAfterBody(raw, reply.raw);
  raw.resume();
  const close = setTimeout(() => raw.destroy(), drainTimeout).unref();
  raw.once('close', () => clearTimeout(close));
}

/** Closes the connection of a request whose body was not read, if the body does not end soon: Node.js would receive it without limit. */
function endUnreadBody(raw: IncomingMessage): void {
  const close = setTimeout(() => raw.destroy(), drainTimeout).unref();
  raw.once('end', () => clearTimeout(close)).once('close', () => clearTimeout(close));
}

/**
 * Handles a request that may contain a file or a part of one. Sends 100 Continue only after all checks (RFC 9110, 10.1.1).
 * @param receive reads the body if necessary, and sends the response
 */
export async function receiveBody(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: VisitorParts,
  receive: (incoming: IncomingBody) => Promise<FastifyReply>,
): Promise<FastifyReply> {
  const { raw } = request;
  const transfer = new AbortController();
  const abort = () => {
    transfer.abort();
    resetConnection(reply.raw);
  };
  let unfollow = () => {};
  let isRequested = false;
  try {
    return await receive({
      body: expectRate(keepOpenWhileProcessing(piecesOf(raw), raw, parts.timeouts), parts.timeouts, () => performance.now()),
      abort,
      begin(visit) {
        isRequested = true;
        if (expectsContinue(raw)) reply.raw.writeContinue();
        expectBodyProgress(raw, parts.timeouts);
        unfollow = parts.transfers.follow({ stillPermitted: async () => (await visit.decideAgain()) !== null, abort });
        return transfer.signal;
      },
    });
  } catch (cause) {
    if (raw.destroyed && !raw.complete) return reply.hijack(); // the connection is closed: nobody reads a response
    discardBody(request, reply, parts, isRequested);
    throw cause;
  } finally {
    unfollow();
    if (!isRequested && !raw.complete) endUnreadBody(raw);
  }
}
