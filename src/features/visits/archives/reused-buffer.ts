/** Returns a function that returns a buffer for one file after another. Each call may reuse the memory of the previous buffer. */
export function reusedBuffer(): (bytes: number) => Buffer {
  let buffer = Buffer.alloc(0);
  return (bytes) => {
    if (buffer.length < bytes) buffer = Buffer.allocUnsafeSlow(bytes);
    return buffer.subarray(0, bytes);
  };
}

/** Returns a Buffer that shares the memory of `bytes`. */
export const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
