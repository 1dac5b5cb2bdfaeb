import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ItemPath } from '#core/item-path.ts';
import { Refusal } from '#core/messages.ts';
import { uploadFile } from '#features/visits/files/upload-file.ts';
import { expectBodyProgress, expectRate } from '#http/request-timeouts.ts';
import { resetConnection } from './send-file.ts';
import { type VisitorParts, visitorRequestOf } from './visitor-request.ts';

const smallPiece = 4096; // bytes
const drainFor = 5000; // ms that a client is given to finish sending what was refused, so that it can read why

/** The pieces of a body, small ones together: a chunk may hold one byte. The body is not destroyed: a refusal is still to be answered. */
async function* piecesOf(body: IncomingMessage): AsyncGenerator<Buffer> {
  for await (const piece of body.iterator({ destroyOnReturn: false })) {
    const more = piece.length < smallPiece && body.readableLength > 0 ? body.read(body.readableLength) : null;
    yield more === null ? piece : Buffer.concat([piece, more]);
  }
}

const expectsContinue = ({ headers }: IncomingMessage) => /^100-continue$/i.test(headers.expect ?? '');

function lengthOf(header: string | undefined): number | null {
  return header === undefined ? null : Number(header);
}

/**
 * Discards the rest of a refused body, for at most five seconds. The connection stays open meanwhile: a client that writes
 * to a closed connection gets an error and never reads the answer.
 * @param asked whether the body was asked for (100 Continue). A client that still expects that sends no body
 */
function dropBody({ raw }: FastifyRequest, reply: FastifyReply, asked: boolean): void {
  if (raw.complete) return;
  if (!asked && expectsContinue(raw)) reply.header('connection', 'close');
  raw.resume();
  const close = setTimeout(() => raw.destroy(), drainFor).unref();
  raw.once('close', () => clearTimeout(close));
}

/** PUT of a file: everything is asked before the body is wanted (RFC 9110, 10.1.1: 100 Continue comes only then). */
export async function receiveFile(request: FastifyRequest, reply: FastifyReply, parts: VisitorParts, path: ItemPath) {
  const { raw } = request;
  if (request.headers['content-range'] !== undefined)
    throw new Refusal('requestMalformed', 'A file is sent whole: Content-Range is not taken.');
  const cut = new AbortController();
  let unfollow = () => {};
  let asked = false;
  try {
    const received = await uploadFile(parts.ports, visitorRequestOf(request, parts), path, {
      body: expectRate(piecesOf(raw), parts.timeouts, () => performance.now()),
      length: lengthOf(request.headers['content-length']),
      ifMatch: request.headers['if-match'] ?? null,
      begin(entered) {
        asked = true;
        if (expectsContinue(raw)) reply.raw.writeContinue();
        expectBodyProgress(raw, parts.timeouts);
        unfollow = parts.transfers.follow({
          stillPermitted: async () => (await entered.decideAgain()) !== null,
          cut() {
            cut.abort();
            resetConnection(reply.raw);
          },
        });
        return cut.signal;
      },
    });
    return await reply.code(201).send(received);
  } catch (cause) {
    if (raw.destroyed && !raw.complete) return reply.hijack(); // the client has left: nobody is there to be answered
    dropBody(request, reply, asked);
    throw cause;
  } finally {
    unfollow();
  }
}
