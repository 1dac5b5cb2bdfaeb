import type { OutgoingHttpHeaders } from 'node:http';
import { Refusal } from '#core/messages.ts';
import type { FolderArchive } from '#features/visits/archives/download-folder.ts';
import { evaluateConditions } from '#http/conditional-request.ts';
import type { ByteRange } from '#ports/storage.ts';
import { joinAndYield } from './join-and-yield.ts';
import { ClientGone, writePiece } from './send-bytes.ts';
import { disposition, type TransferContext, trackTransfer } from './send-file.ts';

const noDate = Number.NaN; // removing a file from a folder may change no date, so dates cannot validate an archive

interface ArchivePart {
  readonly status: 200 | 206 | 304;
  readonly headers: OutgoingHttpHeaders;
  readonly range: ByteRange;
}

/** Evaluates conditions and a range (RFC 9110). Several ranges, or no known layout, get the entire archive. @throws Refusal (412, 416) */
function selectPart({ request }: TransferContext, { layout }: FolderArchive, base: OutgoingHttpHeaders): ArchivePart {
  if (!layout) return { status: 200, headers: base, range: { start: 0, end: Number.POSITIVE_INFINITY } };
  const { size, etag } = layout;
  const result = evaluateConditions(request.method ?? 'GET', request.headers, { etag, modified: noDate, size });
  if (result.status === 412) throw new Refusal('itemStale');
  if (result.status === 416) throw new Refusal('rangeUnsatisfiable', `The archive is ${size} bytes long.`, { fileSize: size });
  const validators = { ...base, etag, 'accept-ranges': 'bytes' };
  const entire = { start: 0, end: size - 1 };
  if (result.status === 304) return { status: 304, headers: validators, range: entire };
  const [range, ...others] = result.status === 206 ? result.ranges : [];
  if (!range || others.length > 0) return { status: 200, headers: { ...validators, 'content-length': size }, range: entire };
  const { start, end } = range;
  const headers = { ...validators, 'content-length': end - start + 1, 'content-range': `bytes ${start}-${end}/${size}` };
  return { status: 206, headers, range };
}

/**
 * Answers a GET or HEAD of a folder with an archive.
 * @param base further headers of the response
 * @throws Refusal (412, 416), or as `archive.appendEntry`, before anything is sent
 */
export async function sendArchive(context: TransferContext, archive: FolderArchive, base: OutgoingHttpHeaders): Promise<void> {
  try {
    await send(context, archive, base);
  } finally {
    await archive.close();
  }
}

async function send(context: TransferContext, archive: FolderArchive, base: OutgoingHttpHeaders): Promise<void> {
  const { request, response, timeouts } = context;
  /** Restarts the timeout of the connection while files are read but no bytes can be sent. @throws ClientGone */
  const keepAlive = () => {
    if (response.destroyed) throw new ClientGone();
    request.socket.setTimeout(timeouts.idle);
  };
  const typeHeaders = { 'content-type': 'application/zip', 'content-disposition': disposition('attachment', `${archive.name}.zip`) };
  const { status, headers, range } = selectPart(context, archive, { ...base, ...typeHeaders });
  if (request.method === 'HEAD' || status === 304) return void response.writeHead(status, headers).end();
  await trackTransfer(context, archive, await archive.appendEntry(), async (reportSent) => {
    response.writeHead(status, headers);
    for await (const piece of joinAndYield(archive.pieces({ ...range, onRead: keepAlive }))) {
      await writePiece(response, piece);
      reportSent(piece.length);
    }
    response.end();
  });
}
