import type { ServerResponse } from 'node:http';
import { readFully } from '#features/visits/files/read-fully.ts';
import type { ByteRange } from '#http/conditional-request.ts';
import type { OpenFile } from '#ports/storage.ts';
import type { TransferBuffers } from './transfer-buffers.ts';

const smallBody = 1 << 19; // bytes

/** The client has left, or Postern has closed the connection. */
export class ClientGone extends Error {}

/** Writes a piece and waits until Node.js has passed it on: its buffer can be reused then. @throws ClientGone */
export function writePiece(response: ServerResponse, piece: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    if (response.destroyed) return reject(new ClientGone());
    const onClose = () => reject(new ClientGone());
    response.once('close', onClose);
    response.write(piece, (error) => {
      response.off('close', onClose);
      if (error) reject(new ClientGone());
      else resolve();
    });
  });
}

/** Fills a buffer from a file. @throws ClientGone if the file ends before: it was truncated while it was sent */
async function fillBuffer(file: OpenFile, buffer: Uint8Array, position: number): Promise<void> {
  if ((await readFully(file, buffer, position)) < buffer.length) throw new ClientGone('the file was truncated while it was sent');
}

/** Returns whether a body is small enough to be read at once and sent with its headers. */
export const isSmall = (bytes: number) => bytes <= smallBody;

/** Returns the bytes of a small range. */
export async function readRange(file: OpenFile, { start, end }: ByteRange): Promise<Uint8Array> {
  if (file.content) return file.content.subarray(start, end + 1);
  const bytes = Buffer.allocUnsafe(end - start + 1);
  await fillBuffer(file, bytes, start);
  return bytes;
}

/**
 * Sends a range with two buffers: one is filled while the other is written.
 * @param reportSent called with the bytes of each piece that was sent
 */
export async function sendRange(
  response: ServerResponse,
  buffers: TransferBuffers,
  file: OpenFile,
  { start, end }: ByteRange,
  reportSent: (bytes: number) => void,
): Promise<void> {
  const pair = buffers.take();
  const pieceAt = (position: number, buffer: Buffer) => buffer.subarray(0, Math.min(buffer.length, end - position + 1));
  let isComplete = false;
  try {
    let current = pieceAt(start, pair[0]);
    await fillBuffer(file, current, start);
    let index = 0;
    for (let position = start; position <= end; ) {
      const nextPosition = position + current.length;
      index = 1 - index;
      const next = nextPosition <= end ? pieceAt(nextPosition, index === 0 ? pair[0] : pair[1]) : null;
      const writing = writePiece(response, current);
      const reading = next ? fillBuffer(file, next, nextPosition) : undefined;
      const [writeResult, readResult] = await Promise.allSettled([writing, reading]);
      if (writeResult.status === 'rejected') throw writeResult.reason;
      if (readResult.status === 'rejected') throw readResult.reason;
      reportSent(current.length);
      position = nextPosition;
      if (next) current = next;
    }
    isComplete = true;
  } finally {
    // After a failure the socket may still use a piece: those buffers go to the garbage collector.
    buffers.release(pair, isComplete);
  }
}
