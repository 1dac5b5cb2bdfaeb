import type { ServerResponse } from 'node:http';
import { readFully } from '#features/visits/files/read-fully.ts';
import type { ByteRange } from '#http/conditional-request.ts';
import type { OpenFile } from '#ports/storage.ts';
import type { TransferBuffers } from './transfer-buffers.ts';

const small = 1 << 19; // bytes

/** The client has left, or the connection was cut. */
export class ClientGone extends Error {}

/** Writes a piece and waits until it has left our hands: its buffer may then be used again. */
export function writePiece(response: ServerResponse, piece: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    if (response.destroyed) return reject(new ClientGone());
    const gone = () => reject(new ClientGone());
    response.once('close', gone);
    response.write(piece, (failed) => {
      response.off('close', gone);
      if (failed) reject(new ClientGone());
      else resolve();
    });
  });
}

/** Reads until `into` is full. @throws where the file ends before: it was cut short while it was sent */
async function fill(file: OpenFile, into: Uint8Array, position: number): Promise<void> {
  if ((await readFully(file, into, position)) < into.length) throw new ClientGone('the file was cut short while it was sent');
}

/** Small enough to be read at once and sent with its headers. */
export const isSmall = (bytes: number) => bytes <= small;

/** The bytes of a small range. */
export async function readRange(file: OpenFile, { start, end }: ByteRange): Promise<Uint8Array> {
  if (file.whole) return file.whole.subarray(start, end + 1);
  const bytes = Buffer.allocUnsafe(end - start + 1);
  await fill(file, bytes, start);
  return bytes;
}

/**
 * Sends a range through two buffers: one is read into while the other is written.
 * @param sent told of every piece that has left
 */
export async function sendRange(
  response: ServerResponse,
  buffers: TransferBuffers,
  file: OpenFile,
  { start, end }: ByteRange,
  sent: (bytes: number) => void,
): Promise<void> {
  const pair = buffers.take();
  const pieceAt = (position: number, buffer: Buffer) => buffer.subarray(0, Math.min(buffer.length, end - position + 1));
  let clean = false;
  try {
    let current = pieceAt(start, pair[0]);
    await fill(file, current, start);
    let turn = 0;
    for (let position = start; position <= end; ) {
      const after = position + current.length;
      turn = 1 - turn;
      const next = after <= end ? pieceAt(after, turn === 0 ? pair[0] : pair[1]) : null;
      const written = writePiece(response, current);
      const reading = next ? fill(file, next, after) : undefined;
      const [wrote, read] = await Promise.allSettled([written, reading]);
      if (wrote.status === 'rejected') throw wrote.reason;
      if (read.status === 'rejected') throw read.reason;
      sent(current.length);
      position = after;
      if (next) current = next;
    }
    clean = true;
  } finally {
    // After a failure the socket may still hold a piece: those buffers are left to the garbage collector.
    buffers.giveBack(pair, clean);
  }
}
