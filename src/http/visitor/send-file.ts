import { randomBytes } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { create as contentDisposition } from 'content-disposition';
import { Refusal } from '#core/messages.ts';
import type { TransferEntry } from '#features/audit/visit-audit.ts';
import type { FileDownload } from '#features/visits/files/download-file.ts';
import { readSmallRange } from '#features/visits/files/open-file.ts';
import type { Transfers } from '#features/visits/transfers/follow-transfers.ts';
import { evaluateConditions } from '#http/conditional-request.ts';
import { expectProgress, type RequestTimeouts } from '#http/request-timeouts.ts';
import type { ByteRange } from '#ports/storage.ts';
import type { ResponseMemory } from './response-memory.ts';
import type { ReverseProxyHeaders } from './reverse-proxy-file.ts';
import { isSmall, sendRange, writePiece } from './send-bytes.ts';

/** Returns a Content-Disposition header for any file name (RFC 6266). */
export const disposition = (type: 'attachment' | 'inline', name: string) => contentDisposition(name, { type });

const contentRange = ({ start, end }: ByteRange, size: number) => `bytes ${start}-${end}/${size}`;
const lengthOf = ({ start, end }: ByteRange) => end - start + 1;

/** Returns the boundary, the heads, the tail and the length of a response with several parts (RFC 9110, 14.6). */
function multipartHeads(ranges: readonly ByteRange[], mediaType: string, size: number) {
  const boundary = randomBytes(18).toString('hex');
  const heads = ranges.map((range) =>
    Buffer.from(`\r\n--${boundary}\r\nContent-Type: ${mediaType}\r\nContent-Range: ${contentRange(range, size)}\r\n\r\n`),
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const length = tail.length + heads.reduce((sum, head, index) => sum + head.length + lengthOf(ranges[index] ?? { start: 0, end: -1 }), 0);
  return { boundary, heads, tail, length };
}

/** Resets a connection, so that no more of its bytes are delivered. */
export function resetConnection(response: ServerResponse): void {
  const { socket } = response;
  if (socket && 'resetAndDestroy' in socket) socket.resetAndDestroy();
  response.destroy();
}

/** A response that is being sent, and the parts that send and watch it. */
export interface TransferContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly transfers: Transfers;
  readonly timeouts: RequestTimeouts;
  readonly reverseProxy: ReverseProxyHeaders;
  readonly responseMemory: ResponseMemory;
}

/** Follows a transfer and records its outcome. Catches every error: the headers have been sent, so no refusal can follow. */
export async function trackTransfer(
  { request, response, transfers, timeouts }: TransferContext,
  { stillPermitted }: Pick<FileDownload, 'stillPermitted'>,
  auditEntry: TransferEntry,
  send: (reportSent: (bytes: number) => void) => Promise<void>,
): Promise<void> {
  let bytes = 0;
  const unfollow = transfers.follow({ stillPermitted, abort: () => resetConnection(response) });
  expectProgress(request, timeouts);
  try {
    await send((pieceBytes) => {
      bytes += pieceBytes;
    });
    auditEntry.end('done', bytes);
  } catch {
    auditEntry.end('failed', bytes);
    resetConnection(response); // the head has been sent: only a broken connection shows that the body is incomplete
  } finally {
    unfollow();
  }
}

/** Waits until an ended response has been sent. @throws Error if the client left before that */
async function waitUntilSent(response: ServerResponse): Promise<void> {
  if (!response.destroyed) await new Promise((resolve) => response.once('close', resolve));
  if (!response.writableFinished) throw new Error('the client left');
}

interface FilePart {
  readonly status: 200 | 206;
  readonly headers: OutgoingHttpHeaders;
  readonly range: ByteRange;
}

const singleWrite = 1 << 14; // bytes

/** Ends a response with its entire body. A very small body is written as latin1 text: Node.js sends it in one write with the head. */
function endResponse(response: ServerResponse, bytes: Uint8Array): void {
  if (bytes.length > singleWrite) response.end(bytes);
  else response.end(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1'), 'latin1');
}

async function sendSmall(context: TransferContext, download: FileDownload, { status, headers, range }: FilePart): Promise<void> {
  const { response } = context;
  const bytes = lengthOf(range) === 0 ? Buffer.alloc(0) : await readSmallRange(download.file, range);
  const auditEntry = await download.appendEntry();
  endResponse(response.writeHead(status, headers), bytes);
  // The kernel has accepted all bytes: there is nothing left to follow.
  if (response.socket?.writableLength === 0) return auditEntry.end('done', bytes.length);
  await trackTransfer(context, download, auditEntry, async (reportSent) => {
    await waitUntilSent(response);
    reportSent(bytes.length);
  });
}

async function sendLarge(context: TransferContext, download: FileDownload, { status, headers, range }: FilePart): Promise<void> {
  const { response } = context;
  await trackTransfer(context, download, await download.appendEntry(), async (reportSent) => {
    response.writeHead(status, headers);
    await sendRange(response, download.file, range, reportSent);
    response.end();
  });
}

async function sendParts(
  context: TransferContext,
  download: FileDownload,
  headers: OutgoingHttpHeaders,
  ranges: readonly ByteRange[],
): Promise<void> {
  const { response } = context;
  const { boundary, heads, tail, length } = multipartHeads(ranges, download.mediaType, download.file.entry.size);
  const multipart = { 'content-type': `multipart/byteranges; boundary=${boundary}`, 'content-length': length };
  await trackTransfer(context, download, await download.appendEntry(), async (reportSent) => {
    response.writeHead(206, { ...headers, ...multipart });
    for (const [index, range] of ranges.entries()) {
      await writePiece(response, heads[index] ?? Buffer.alloc(0));
      await sendRange(response, download.file, range, reportSent);
    }
    response.end(tail);
  });
}

/**
 * Answers a GET or HEAD of a file, with the conditions and ranges of RFC 9110. Closes the file.
 * @param base further headers of the response
 * @throws Refusal (412, 416), or as `readSmallRange` and `download.appendEntry`, before anything is sent
 */
export async function sendFile(context: TransferContext, download: FileDownload, base: OutgoingHttpHeaders): Promise<void> {
  const { request, response } = context;
  const { file, mediaType } = download;
  const { etag, modified, size } = file.entry;
  try {
    const handOver = context.reverseProxy(request, download);
    if (handOver) {
      // The reverse proxy sends no body for HEAD: that is no download.
      const auditEntry = request.method === 'HEAD' ? null : await download.appendEntry();
      response.writeHead(200, { ...base, ...handOver }).end();
      return auditEntry?.end('done', null);
    }
    const result = evaluateConditions(request.method ?? 'GET', request.headers, { etag, modified, size });
    if (result.status === 412) throw new Refusal('itemStale');
    if (result.status === 416) throw new Refusal('rangeUnsatisfiable', `The file is ${size} bytes long.`, { fileSize: size });
    const validators = { ...base, etag, 'last-modified': new Date(modified).toUTCString(), 'accept-ranges': 'bytes' };
    if (result.status === 304) return void response.writeHead(304, validators).end();
    const [first, ...others] = result.status === 206 ? result.ranges : [{ start: 0, end: size - 1 }];
    if (first && others.length > 0) return await sendParts(context, download, validators, [first, ...others]);
    const range = first ?? { start: 0, end: -1 };
    const headers: OutgoingHttpHeaders = { ...validators, 'content-type': mediaType, 'content-length': lengthOf(range) };
    if (result.status === 206) headers['content-range'] = contentRange(range, size);
    if (request.method === 'HEAD') return void response.writeHead(200, headers).end();
    const part = { status: result.status, headers, range };
    const release = isSmall(lengthOf(range)) ? context.responseMemory.reserve(lengthOf(range)) : null;
    if (!release) return await sendLarge(context, download, part);
    try {
      await sendSmall(context, download, part);
    } finally {
      release();
    }
  } finally {
    await file.close();
  }
}
