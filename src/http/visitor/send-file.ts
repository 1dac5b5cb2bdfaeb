import { randomBytes } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { create as contentDisposition } from 'content-disposition';
import { Refusal } from '#core/messages.ts';
import type { TransferEntry } from '#features/audit/visit-audit.ts';
import type { FileDownload } from '#features/visits/files/download-file.ts';
import type { Transfers } from '#features/visits/transfers/follow-transfers.ts';
import { type ByteRange, select } from '#http/conditional-request.ts';
import { expectProgress, type RequestTimeouts } from '#http/request-timeouts.ts';
import type { FrontServerHeaders } from './front-server-file.ts';
import { isSmall, readRange, sendRange, writePiece } from './send-bytes.ts';
import type { TransferBuffers } from './transfer-buffers.ts';

/** RFC 6266, with any name. */
export const disposition = (type: 'attachment' | 'inline', name: string) => contentDisposition(name, { type });

const contentRange = ({ start, end }: ByteRange, size: number) => `bytes ${start}-${end}/${size}`;
const lengthOf = ({ start, end }: ByteRange) => end - start + 1;

/** RFC 9110, 14.6: several parts, each with its own head. */
function partHeads(ranges: readonly ByteRange[], mediaType: string, size: number) {
  const boundary = randomBytes(18).toString('hex');
  const heads = ranges.map((range) =>
    Buffer.from(`\r\n--${boundary}\r\nContent-Type: ${mediaType}\r\nContent-Range: ${contentRange(range, size)}\r\n\r\n`),
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const length = tail.length + heads.reduce((sum, head, index) => sum + head.length + lengthOf(ranges[index] ?? { start: 0, end: -1 }), 0);
  return { boundary, heads, tail, length };
}

/** Cuts a connection so that nothing more of it is delivered. */
export function resetConnection(response: ServerResponse): void {
  const { socket } = response;
  if (socket && 'resetAndDestroy' in socket) socket.resetAndDestroy();
  response.destroy();
}

/** An answer that is being sent, and who looks after it. */
export interface Sending {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly transfers: Transfers;
  readonly timeouts: RequestTimeouts;
  readonly frontServer: FrontServerHeaders;
  readonly buffers: TransferBuffers;
}

/** Follows a transfer, records what came of it, and lets no error past that the client's leaving made. */
export async function trackTransfer(
  { request, response, transfers, timeouts }: Sending,
  { stillPermitted }: Pick<FileDownload, 'stillPermitted'>,
  record: TransferEntry,
  send: (sent: (bytes: number) => void) => Promise<void>,
): Promise<void> {
  let bytes = 0;
  const unfollow = transfers.follow({ stillPermitted, cut: () => resetConnection(response) });
  expectProgress(request, timeouts);
  try {
    await send((more) => {
      bytes += more;
    });
    record.end('done', bytes);
  } catch {
    record.end('failed', bytes);
    resetConnection(response); // the head has gone: a broken body is the only way to say that it is not whole
  } finally {
    unfollow();
  }
}

/** Waits until an answer that was ended has gone. @throws where the client left before */
async function untilGone(response: ServerResponse): Promise<void> {
  if (!response.destroyed) await new Promise((resolve) => response.once('close', resolve));
  if (!response.writableFinished) throw new Error('the client left');
}

/** What of a file is to be sent, under which head. */
interface Part {
  readonly status: 200 | 206;
  readonly headers: OutgoingHttpHeaders;
  readonly range: ByteRange;
}

const inOneWrite = 1 << 14; // bytes

/** Ends an answer with its whole body: a very small one as text, each byte a character, which Node sends with the head at once. */
function endWith(response: ServerResponse, bytes: Uint8Array): void {
  if (bytes.length > inOneWrite) response.end(bytes);
  else response.end(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1'), 'latin1');
}

async function sendSmall(sending: Sending, handedOut: FileDownload, { status, headers, range }: Part): Promise<void> {
  const { response } = sending;
  const bytes = lengthOf(range) === 0 ? Buffer.alloc(0) : await readRange(handedOut.file, range);
  const record = await handedOut.appendEntry();
  endWith(response.writeHead(status, headers), bytes);
  // What the kernel has taken whole is no longer ours to follow.
  if (response.socket?.writableLength === 0) return record.end('done', bytes.length);
  await trackTransfer(sending, handedOut, record, async (sent) => {
    await untilGone(response);
    sent(bytes.length);
  });
}

async function sendLarge(sending: Sending, handedOut: FileDownload, { status, headers, range }: Part): Promise<void> {
  const { response } = sending;
  await trackTransfer(sending, handedOut, await handedOut.appendEntry(), async (sent) => {
    response.writeHead(status, headers);
    await sendRange(response, sending.buffers, handedOut.file, range, sent);
    response.end();
  });
}

async function sendParts(
  sending: Sending,
  handedOut: FileDownload,
  headers: OutgoingHttpHeaders,
  ranges: readonly ByteRange[],
): Promise<void> {
  const { response } = sending;
  const { boundary, heads, tail, length } = partHeads(ranges, handedOut.mediaType, handedOut.file.entry.size);
  const multipart = { 'content-type': `multipart/byteranges; boundary=${boundary}`, 'content-length': length };
  await trackTransfer(sending, handedOut, await handedOut.appendEntry(), async (sent) => {
    response.writeHead(206, { ...headers, ...multipart });
    for (const [index, range] of ranges.entries()) {
      await writePiece(response, heads[index] ?? Buffer.alloc(0));
      await sendRange(response, sending.buffers, handedOut.file, range, sent);
    }
    response.end(tail);
  });
}

/**
 * Answers a GET or HEAD of a file: conditions and ranges as in RFC 9110. Closes the file.
 * @param base headers of every answer at the link
 * @throws 412, 416 before anything is sent
 */
export async function sendFile(sending: Sending, handedOut: FileDownload, base: OutgoingHttpHeaders): Promise<void> {
  const { request, response } = sending;
  const { file, mediaType } = handedOut;
  const { etag, modified, size } = file.entry;
  try {
    const handed = sending.frontServer(request, handedOut);
    if (handed) {
      // What the front server makes of HEAD is no download.
      const record = request.method === 'HEAD' ? null : await handedOut.appendEntry();
      response.writeHead(200, { ...base, ...handed }).end();
      return record?.end('done', null);
    }
    const selected = select(request.method ?? 'GET', request.headers, { etag, modified, size });
    if (selected.status === 412) throw new Refusal('itemStale');
    if (selected.status === 416) throw new Refusal('rangeUnsatisfiable', `The file is ${size} bytes long.`, { fileSize: size });
    const validators = { ...base, etag, 'last-modified': new Date(modified).toUTCString(), 'accept-ranges': 'bytes' };
    if (selected.status === 304) return void response.writeHead(304, validators).end();
    const [only, ...more] = selected.status === 206 ? selected.ranges : [{ start: 0, end: size - 1 }];
    if (only && more.length > 0) return await sendParts(sending, handedOut, validators, [only, ...more]);
    const range = only ?? { start: 0, end: -1 };
    const headers: OutgoingHttpHeaders = { ...validators, 'content-type': mediaType, 'content-length': lengthOf(range) };
    if (selected.status === 206) headers['content-range'] = contentRange(range, size);
    if (request.method === 'HEAD') return void response.writeHead(200, headers).end();
    const part = { status: selected.status, headers, range };
    const release = isSmall(lengthOf(range)) ? sending.buffers.reserve(lengthOf(range)) : null;
    if (!release) return await sendLarge(sending, handedOut, part);
    try {
      await sendSmall(sending, handedOut, part);
    } finally {
      release();
    }
  } finally {
    await file.close();
  }
}
