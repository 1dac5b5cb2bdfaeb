import type { OutboundBody } from '#ports/outbound.ts';

/** Yields `length` bytes of an iterator. Keeps what is left of the last piece in `rest`. */
async function* takeBytes(pieces: AsyncIterator<Uint8Array>, length: number, rest: { bytes: Uint8Array | null }) {
  for (let left = length; left > 0; ) {
    const piece = rest.bytes ?? (await nextPiece(pieces));
    const part = piece.subarray(0, left);
    rest.bytes = part.length < piece.length ? piece.subarray(left) : null;
    left -= part.length;
    yield part;
  }
}

async function nextPiece(pieces: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  const result = await pieces.next();
  if (result.done) throw new Error('a body is shorter than its stated length');
  return result.value;
}

/**
 * Yields a body in slices, to be read one after the other.
 * @returns nothing for an empty body; the body itself, if it is not longer than a slice; otherwise slices that can be read only once
 */
export function* slicesOf(body: OutboundBody, maxLength: number): Generator<OutboundBody> {
  if (body.length === 0) return;
  if (body.length <= maxLength) return void (yield body);
  const pieces = body.pieces[Symbol.asyncIterator]();
  const rest: { bytes: Uint8Array | null } = { bytes: null };
  for (let start = 0; start < body.length; start += maxLength) {
    const length = Math.min(maxLength, body.length - start);
    yield { length, pieces: takeBytes(pieces, length, rest) };
  }
}
