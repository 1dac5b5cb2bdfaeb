import type { Readable, Writable } from 'node:stream';

/** Part of a frame that is sent as JSON. */
export type Header = Readonly<Record<string, unknown>>;

/** A message between Postern and a sandboxed process. */
export interface Frame {
  readonly header: Header;
  readonly bytes: Uint8Array;
}

/** The bytes of a frame that has only a header. */
export const noBytes = new Uint8Array();

/** A frame is larger than it may be. */
export class FrameTooLarge extends Error {}

const lengthsSize = 8; // bytes: the lengths of header and bytes, as two big-endian integers
const maxHeader = 1 << 20; // bytes

/** Writes a frame. Resolves when the stream has written the frame. */
export async function writeFrame(stream: Writable, { header, bytes }: Frame): Promise<void> {
  const json = Buffer.from(JSON.stringify(header));
  const lengths = Buffer.alloc(lengthsSize);
  lengths.writeUInt32BE(json.length, 0);
  lengths.writeUInt32BE(bytes.length, 4);
  stream.write(Buffer.concat([lengths, json]));
  await new Promise<void>((resolve, reject) => stream.write(bytes, (cause) => (cause ? reject(cause) : resolve())));
}

/** Joins pieces into one buffer, without a copy if there is only one. */
const join = (pieces: readonly Buffer[]) => (pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces));

function parseJsonObject(json: Buffer): Header {
  const header: unknown = JSON.parse(json.toString());
  if (typeof header !== 'object' || header === null) throw new TypeError('the header of a frame must be an object');
  return { ...header };
}

/** Yields the frames of a stream. @param maxBytes limit of `bytes` in one frame @throws FrameTooLarge when the lengths have arrived */
export async function* readFrames(stream: Readable, maxBytes: number): AsyncGenerator<Frame> {
  let pieces: Buffer[] = [];
  let length = 0;
  let needed = lengthsSize;
  for await (const piece of stream) {
    pieces.push(piece);
    length += piece.length;
    while (length >= needed) {
      let received = join(pieces);
      const [headerLength, bytesLength] = [received.readUInt32BE(0), received.readUInt32BE(4)];
      if (headerLength > maxHeader || bytesLength > maxBytes)
        throw new FrameTooLarge(`a frame is too large: its header has ${headerLength} bytes, its content ${bytesLength}`);
      const [start, end] = [lengthsSize + headerLength, lengthsSize + headerLength + bytesLength];
      needed = end;
      if (received.length >= end) {
        yield { header: parseJsonObject(received.subarray(lengthsSize, start)), bytes: received.subarray(start, end) };
        received = received.subarray(end);
        needed = lengthsSize;
      }
      pieces = [received];
      length = received.length;
    }
  }
}
