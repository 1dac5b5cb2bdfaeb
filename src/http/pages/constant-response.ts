import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { matchesEtag } from '#http/conditional-request.ts';
import { preferencesOf } from '#http/content-negotiation.ts';

const compress = promisify(gzip);
const etagLength = 22; // characters of base64url: 128 bits

/** A response that is the same for every client. All clients share its memory, even many slow ones. */
export interface ConstantResponse {
  readonly type: string;
  readonly bytes: Buffer;
  readonly gzipBytes: Buffer;
  readonly etag: string;
}

/** Compresses a body once, and adds its ETag. */
export async function createConstantResponse(type: string, bytes: Buffer): Promise<ConstantResponse> {
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, etagLength)}"`;
  return { type, bytes, gzipBytes: await compress(bytes), etag };
}

/** Sends a constant response: compressed if the client accepts gzip, or 304 if the client has it already. */
export function sendConstant(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, bytes, gzipBytes, etag }: ConstantResponse,
): FastifyReply {
  const isCompressed = preferencesOf(request).encoding(['gzip', 'identity']) === 'gzip';
  const tag = isCompressed ? `${etag.slice(0, -1)}-gzip"` : etag;
  reply.header('etag', tag).header('vary', 'accept-encoding').header('cache-control', 'no-cache');
  if (matchesEtag(request.headers['if-none-match'] ?? '', tag)) return reply.code(304).send();
  if (isCompressed) reply.header('content-encoding', 'gzip');
  return reply.type(type).send(isCompressed ? gzipBytes : bytes);
}
