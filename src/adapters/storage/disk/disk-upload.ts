import type { ContinuedUpload, StorageClient, UploadTarget } from '#ports/storage.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import type { OpenFolder } from './open-folders.ts';
import { placeUpload } from './place-upload.ts';
import type { Placing, StagedUpload } from './staged-upload.ts';

const bufferSize = 1 << 20; // bytes collected before a write: writing 64 KiB at a time costs three times the CPU
const firstBufferSize = 1 << 16; // bytes: hundreds of clients may each send little more than the beginning of a file
const bufferGrowth = 4; // how many times larger the next buffer is, up to the full size

/**
 * Receives a file. The file is written to the staging area, synced, and then put in place, so that it is visible only
 * when it is complete. There are two buffers: one is filled while a thread writes the other.
 */
export class DiskUpload implements ContinuedUpload {
  readonly handle = null;
  readonly #stagedUpload: StagedUpload;
  readonly #placing: Placing;
  readonly #folder: Pick<OpenFolder, 'threads' | 'pages'>;
  readonly #client: StorageClient;
  #buffer: ArrayBuffer;
  #spare: ArrayBuffer | null = null;
  #filledBytes = 0;
  readonly #size: number;
  #position: number;
  #writing: Promise<unknown> = Promise.resolve();
  /**
   * Resolves when no thread uses the descriptors. They must not be closed earlier: another file could get their numbers.
   */
  #descriptorsUnused: Promise<void> = Promise.resolve();
  #isSynced = false;
  /**
   * The last sync. If it failed, it is not repeated: the system may report the next sync as successful although bytes are
   * lost.
   */
  #lastSync: Promise<unknown> = Promise.resolve();

  /** @param offset bytes that the staging file has already */
  constructor(
    stagedUpload: StagedUpload,
    target: UploadTarget,
    placing: Placing,
    folder: Pick<OpenFolder, 'threads' | 'pages'>,
    offset = 0,
  ) {
    this.#stagedUpload = stagedUpload;
    this.#position = offset;
    this.#folder = folder;
    this.#client = target.client;
    this.#placing = placing;
    this.#size = target.size ?? Number.POSITIVE_INFINITY;
    this.#buffer = this.#newBuffer(firstBufferSize);
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#isSynced = false;
    for (let rest = chunk; rest.length > 0; ) {
      const part = rest.subarray(0, this.#buffer.byteLength - this.#filledBytes);
      new Uint8Array(this.#buffer).set(part, this.#filledBytes);
      this.#filledBytes += part.length;
      rest = rest.subarray(part.length);
      if (this.#filledBytes === this.#buffer.byteLength) await this.#flush();
    }
  }

  async sync(): Promise<void> {
    if (this.#isSynced) return;
    await this.#flush();
    await this.#writing;
    await this.#lastSync;
    this.#lastSync = this.#folder.threads.syncs.run('syncUpload', [this.#stagedUpload], {
      client: this.#client,
      onLateResult: () => {},
      onEnd: this.#use(),
    });
    await this.#lastSync;
    this.#isSynced = true;
  }

  async *readBack(): AsyncIterable<Uint8Array> {
    let buffer = new ArrayBuffer(bufferSize);
    for (let position = 0; position < this.#position; ) {
      const length = Math.min(bufferSize, this.#position - position);
      const result = await this.#folder.threads.data.run('read', [this.#stagedUpload.file, buffer, length, position], {
        ...{ client: this.#client, moved: [buffer], onLateResult: () => {}, onEnd: this.#use() },
      });
      if (result.count < length) throw new StorageUnavailable('a staging file is shorter than what was written to it');
      buffer = result.buffer;
      position += length;
      yield new Uint8Array(buffer, 0, length);
    }
  }

  async place(): Promise<string> {
    await this.sync();
    return placeUpload(this.#folder, this.#stagedUpload, this.#placing, this.#client);
  }

  async discard(): Promise<void> {
    await this.#descriptorsUnused;
    await this.#folder.threads.data.run('discardUpload', [this.#stagedUpload], { client: this.#client, always: true });
  }

  async closeForRecovery(): Promise<void> {
    await this.#descriptorsUnused;
    await this.#folder.threads.data.run('closeUpload', [this.#stagedUpload], { client: this.#client, always: true });
  }

  /** Waits until the previous write has ended, and begins to write the filled buffer. */
  async #flush(): Promise<void> {
    await this.#writing;
    if (this.#filledBytes === 0) return;
    const nextSize = Math.min(bufferSize, bufferGrowth * this.#buffer.byteLength);
    this.#writing = this.#writeOut(this.#buffer, this.#filledBytes, this.#position);
    this.#writing.catch(() => {}); // the next call reports the error
    this.#position += this.#filledBytes;
    this.#filledBytes = 0;
    this.#buffer = this.#spare && this.#spare.byteLength >= nextSize ? this.#spare : this.#newBuffer(nextSize);
    this.#spare = null;
  }

  /** Returns a buffer for the bytes after the current position. @param maxSize bytes */
  #newBuffer(maxSize: number): ArrayBuffer {
    return new ArrayBuffer(Math.max(1, Math.min(maxSize, this.#size - this.#position)));
  }

  /** Writes the beginning of a buffer, which is moved to a thread and back. */
  async #writeOut(buffer: ArrayBuffer, length: number, position: number): Promise<void> {
    const result = await this.#folder.threads.data.run('writeUpload', [this.#stagedUpload, buffer, length, position], {
      ...{ client: this.#client, moved: [buffer], onLateResult: () => {}, onEnd: this.#use() },
    });
    this.#spare = result.buffer;
  }

  /** Notes that a thread uses the descriptors. @returns a function to call when the thread no longer uses them */
  #use(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#descriptorsUnused = promise;
    return resolve;
  }
}
