import type { OutgoingHttpHeaders } from 'node:http';
import { Refusal } from '#core/messages.ts';
import type { FolderArchive } from '#features/visits/archives/download-folder.ts';
import { type ByteRange, select } from '#http/conditional-request.ts';
import { joinedPieces } from './join-pieces.ts';
import { ClientGone, writePiece } from './send-bytes.ts';
import { disposition, type Sending, trackTransfer } from './send-file.ts';

const undated = Number.NaN; // what was taken out of a folder leaves no later date behind: dates say nothing of an archive

/** Which bytes of an archive leave, under which head. */
interface Part {
  readonly status: 200 | 206 | 304;
  readonly headers: OutgoingHttpHeaders;
  readonly range: ByteRange;
}

/** Conditions and one range as in RFC 9110; several ranges are answered by the whole. @throws 412, 416 */
function partOf({ request }: Sending, { known }: FolderArchive, base: OutgoingHttpHeaders): Part {
  if (!known) return { status: 200, headers: base, range: { start: 0, end: Number.POSITIVE_INFINITY } };
  const { size, etag } = known;
  const selected = select(request.method ?? 'GET', request.headers, { etag, modified: undated, size });
  if (selected.status === 412) throw new Refusal('itemStale');
  if (selected.status === 416) throw new Refusal('rangeUnsatisfiable', `The archive is ${size} bytes long.`, { fileSize: size });
  const validators = { ...base, etag, 'accept-ranges': 'bytes' };
  const whole = { start: 0, end: size - 1 };
  if (selected.status === 304) return { status: 304, headers: validators, range: whole };
  const [only, ...more] = selected.status === 206 ? selected.ranges : [];
  if (!only || more.length > 0) return { status: 200, headers: { ...validators, 'content-length': size }, range: whole };
  const { start, end } = only;
  const headers = { ...validators, 'content-length': end - start + 1, 'content-range': `bytes ${start}-${end}/${size}` };
  return { status: 206, headers, range: only };
}

/**
 * Answers a GET or HEAD of a folder as an archive.
 * @param base headers of every answer at the link
 * @throws 412, 416 before anything is sent
 */
export async function sendArchive(sending: Sending, archive: FolderArchive, base: OutgoingHttpHeaders): Promise<void> {
  try {
    await send(sending, archive, base);
  } finally {
    await archive.close();
  }
}

async function send(sending: Sending, archive: FolderArchive, base: OutgoingHttpHeaders): Promise<void> {
  const { request, response, timeouts } = sending;
  /** A sum may take long to read: whoever still waits is not taken for one who does not move. */
  const reading = () => {
    if (response.destroyed) throw new ClientGone();
    request.socket.setTimeout(timeouts.stalled);
  };
  const named = { 'content-type': 'application/zip', 'content-disposition': disposition('attachment', `${archive.name}.zip`) };
  const { status, headers, range } = partOf(sending, archive, { ...base, ...named });
  if (request.method === 'HEAD' || status === 304) return void response.writeHead(status, headers).end();
  await trackTransfer(sending, archive, await archive.appendEntry(), async (sent) => {
    response.writeHead(status, headers);
    for await (const piece of joinedPieces(archive.pieces({ ...range, reading }))) {
      await writePiece(response, piece);
      sent(piece.length);
    }
    response.end();
  });
}
