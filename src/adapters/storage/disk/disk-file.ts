import { memoryFile } from '#adapters/storage/memory-file.ts';
import { unlessAborted } from '#adapters/storage/unless-aborted.ts';
import type { DatedEntry } from '#core/listing.ts';
import type { ByteRange, OpenFile, StorageClient } from '#ports/storage.ts';
import { ItemChanged } from '#ports/storage-errors.ts';
import type { FoundFile, OpenedFile } from './file-lookups.ts';
import type { FolderThreads } from './folder-threads.ts';
import type { BufferPair, ReadBuffers } from './read-buffers.ts';

/** A file that a thread reads from its descriptor. */
class DescriptorFile implements OpenFile {
  readonly entry: DatedEntry;
  readonly #descriptor: number;
  readonly #data: FolderThreads['data'];
  readonly #buffers: ReadBuffers;
  readonly #client: StorageClient;
  /** Resolves when no thread uses the descriptor. */
  #unused: Promise<void> = Promise.resolve();

  constructor({ entry, descriptor }: OpenedFile, data: FolderThreads['data'], buffers: ReadBuffers, client: StorageClient) {
    this.entry = entry;
    this.#client = client;
    this.#descriptor = descriptor;
    this.#data = data;
    this.#buffers = buffers;
  }

  async *read({ start, end }: ByteRange, signal?: AbortSignal): AsyncIterable<Uint8Array> {
    if (end < start) return;
    const [first, second] = this.#buffers.take();
    let unused: BufferPair | null = null;
    try {
      let next: Promise<Buffer<ArrayBuffer>> | null = this.#fill(first, start, end);
      let spare = second;
      for (let position = start; next; ) {
        const piece: Buffer<ArrayBuffer> = await unlessAborted(next, signal);
        position += piece.length;
        next = position <= end ? this.#fill(spare, position, end) : null;
        next?.catch(() => {}); // the loop can end before it awaits `next`
        yield piece;
        if (!next) unused = [piece.buffer, spare];
        spare = piece.buffer;
      }
    } finally {
      // After a failure or an early end, the reader or a thread may still use a buffer, so the two buffers are not used again.
      this.#buffers.release(unused);
    }
  }

  async close(): Promise<void> {
    await this.#unused; // after the close, another file may get the same descriptor number
    await this.#data.run('close', [this.#descriptor], { client: this.#client, always: true });
  }

  /**
   * Fills the beginning of a buffer, which is moved to a thread and back.
   * @param end position of the last byte that may be read
   * @throws ItemChanged if the file ends before the last byte to read; StorageUnavailable
   */
  async #fill(buffer: ArrayBuffer, position: number, end: number): Promise<Buffer<ArrayBuffer>> {
    const length = Math.min(buffer.byteLength, end - position + 1);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#unused = promise;
    const result = await this.#data.run('read', [this.#descriptor, buffer, length, position], {
      ...{ client: this.#client, moved: [buffer], onLateResult: () => {}, onEnd: resolve },
    });
    if (result.count < length) throw new ItemChanged('the file was truncated while it was read');
    return Buffer.from(result.buffer, 0, length);
  }
}

/** Returns the `OpenFile` of a file that a lookup has found. */
export const diskFile = (found: FoundFile, { data }: FolderThreads, buffers: ReadBuffers, client: StorageClient): OpenFile =>
  found.content ? memoryFile(found.entry, found.content) : new DescriptorFile(found, data, buffers, client);
