import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DrawnBytes } from '#features/visits/documents/draw-pages.ts';
import { writePiece } from './send-bytes.ts';
import { disposition, trackTransfer } from './send-file.ts';
import type { VisitorParts } from './visitor-request.ts';
import { linkHeaders } from './visitor-responses.ts';

const pieceLength = 1 << 18; // bytes

/** How a browser treats the bytes. */
export interface DrawnContent {
  readonly mediaType: string;
  readonly type: 'inline' | 'attachment';
  /** Name of the file; null: the bytes are no file, but a picture or the text of a page. */
  readonly name: string | null;
}

/**
 * Sends bytes that were made for this visitor, and disposes of them. They have no ETag and no ranges: visitors may get different
 * bytes.
 */
export async function sendDrawnBytes(
  { raw: request, id }: FastifyRequest,
  reply: FastifyReply,
  parts: VisitorParts,
  drawnBytes: DrawnBytes,
  { mediaType, type, name }: DrawnContent,
): Promise<void> {
  using drawn = drawnBytes;
  const auditEntry = await drawn.appendEntry();
  const { raw: response } = reply;
  reply.hijack();
  response.writeHead(200, {
    ...linkHeaders,
    'x-request-id': id,
    'content-type': mediaType,
    'content-length': drawn.bytes.length,
    ...(name === null ? {} : { 'content-disposition': disposition(type, name) }),
  });
  await trackTransfer({ request, response, ...parts }, drawn, auditEntry, async (reportSent) => {
    for (let start = 0; start < drawn.bytes.length; start += pieceLength) {
      const piece = drawn.bytes.subarray(start, start + pieceLength);
      await writePiece(response, piece);
      reportSent(piece.length);
    }
    response.end();
  });
}
