import type { ServerResponse } from 'node:http';
import type { ByteRange, OpenFile } from '#ports/storage.ts';

const smallBody = 1 << 19; // bytes

/** The client has disconnected, or Postern has closed the connection. */
export class ClientGone extends Error {}

/** Writes a piece and waits until Node.js has handed it to the operating system: then its buffer can be reused. @throws ClientGone */
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

/** Returns whether a body is small enough to be read completely before it is sent. */
export const isSmall = (bytes: number) => bytes <= smallBody;

/**
 * Sends a range of a file.
 * @param reportSent called with the number of bytes of each piece that was sent
 * @throws ClientGone, also while the storage does not respond; the errors of `OpenFile.read`
 */
export async function sendRange(
  response: ServerResponse,
  file: OpenFile,
  range: ByteRange,
  reportSent: (bytes: number) => void,
): Promise<void> {
  const clientGone = new AbortController();
  const onClose = () => clientGone.abort(new ClientGone());
  response.once('close', onClose);
  try {
    for await (const piece of file.read(range, clientGone.signal)) {
      await writePiece(response, piece);
      reportSent(piece.length);
    }
  } finally {
    response.off('close', onClose);
  }
}
