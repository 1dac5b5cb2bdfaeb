const maxBuffer = 1 << 20; // bytes collected before a write: writing 64 KiB at a time costs three times the CPU
const minBuffer = 1 << 16; // bytes: first and smallest buffer of an upload, because hundreds of clients may each send only the beginning
const growth = 4; // how many times larger the next buffer of an upload is at most
const totalMemory = 32 << 20; // bytes, shared by the buffers that are being filled; more than 512 uploads take more, minBuffer each
const maxFree = 8; // buffers of the full size that are kept for reuse

/** Memory for receiving files: large buffers for a few uploads, small ones for hundreds. */
export class WriteBuffers {
  readonly #free: ArrayBuffer[] = [];
  #uploads = 0;

  /** Counts an upload among those that share the memory. @returns a function to call when the upload ends */
  begin(): () => void {
    this.#uploads += 1;
    let hasEnded = false;
    return () => {
      if (!hasEnded) this.#uploads -= 1;
      hasEnded = true;
    };
  }

  /**
   * Returns a buffer for the next bytes of an upload.
   * @param previousSize bytes of its previous buffer; 0: none
   * @param remaining bytes of the file that have not arrived yet
   */
  take(previousSize: number, remaining: number): ArrayBuffer {
    const sharedSize = Math.floor(totalMemory / Math.max(1, this.#uploads));
    const size = Math.min(remaining, Math.max(minBuffer, Math.min(maxBuffer, growth * previousSize, sharedSize)));
    const free = size === maxBuffer ? this.#free.pop() : undefined;
    return free ?? new ArrayBuffer(Math.max(1, size));
  }

  /** Takes back a buffer whose bytes were written. */
  giveBack(buffer: ArrayBuffer): void {
    if (buffer.byteLength === maxBuffer && this.#free.length < maxFree) this.#free.push(buffer);
  }
}
