import type { ClosedUpload, Confirm, ContinuedUpload, StorageClient, UploadTarget } from '#ports/storage.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { monotonicTime } from './monotonic-time.ts';
import type { OpenFolder } from './open-folders.ts';
import { placeDiskUpload } from './place-upload.ts';
import type { Placing, StagedUpload } from './staged-upload.ts';

const readBackSize = 1 << 20; // bytes

/** The parts of a location's open folder that an upload uses. */
type UploadFolder = Pick<OpenFolder, 'threads' | 'pages' | 'writeBuffers'>;

/**
 * Receives a file. The file is written to the staging area, synced, and then put in place, so that it is visible only
 * when it is complete. One buffer is filled while a thread writes the previous one.
 */
export class DiskUpload implements ContinuedUpload {
  readonly handle = null;
  readonly #stagedUpload: StagedUpload;
  readonly #placing: Placing;
  readonly #folder: UploadFolder;
  readonly #client: StorageClient;
  readonly #confirm: Confirm | undefined;
  /** The buffer that is being filled; null: no byte has arrived since the last buffer was given to a thread. */
  #buffer: ArrayBuffer | null = null;
  #previousSize = 0;
  #filledBytes = 0;
  readonly #endBuffering: () => void;
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

  /** @param continued how the upload continues: `write` begins after the bytes up to `offset` */
  constructor(
    stagedUpload: StagedUpload,
    target: UploadTarget,
    placing: Placing,
    folder: UploadFolder,
    { offset, confirm }: Pick<ClosedUpload, 'offset' | 'confirm'> = { offset: 0 },
  ) {
    this.#stagedUpload = stagedUpload;
    this.#confirm = confirm;
    this.#position = offset;
    this.#folder = folder;
    this.#client = target.client;
    this.#placing = placing;
    this.#size = target.size ?? Number.POSITIVE_INFINITY;
    this.#endBuffering = folder.writeBuffers.begin();
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#isSynced = false;
    for (let rest = chunk; rest.length > 0; ) {
      const buffer = this.#buffer ?? this.#folder.writeBuffers.take(this.#previousSize, this.#size - this.#position);
      this.#buffer = buffer;
      const part = rest.subarray(0, buffer.byteLength - this.#filledBytes);
      new Uint8Array(buffer).set(part, this.#filledBytes);
      this.#filledBytes += part.length;
      rest = rest.subarray(part.length);
      if (this.#filledBytes === buffer.byteLength) await this.#flush();
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
      onEnd: this.#markInUse(),
    });
    await this.#lastSync;
    this.#isSynced = true;
  }

  async *readBack(): AsyncIterable<Uint8Array> {
    let buffer = new ArrayBuffer(readBackSize);
    for (let position = 0; position < this.#position; ) {
      const length = Math.min(readBackSize, this.#position - position);
      const result = await this.#folder.threads.data.run('read', [this.#stagedUpload.file, buffer, length, position], {
        ...{ client: this.#client, moved: [buffer], onLateResult: () => {}, onEnd: this.#markInUse() },
      });
      if (result.count < length) throw new StorageUnavailable('a staging file is shorter than what was written to it');
      buffer = result.buffer;
      position += length;
      yield new Uint8Array(buffer, 0, length);
    }
  }

  async place(confirm?: Confirm): Promise<string> {
    await this.sync();
    await confirm?.();
    return placeDiskUpload(this.#folder, this.#stagedUpload, this.#placing, this.#client);
  }

  async discard(): Promise<void> {
    this.#endBuffering();
    await this.#descriptorsUnused;
    await this.#folder.threads.data.run('discardUpload', [this.#stagedUpload], { client: this.#client, always: true });
  }

  async closeForRecovery(): Promise<void> {
    this.#endBuffering();
    await this.#descriptorsUnused;
    await this.#folder.threads.data.run('closeUpload', [this.#stagedUpload], { client: this.#client, always: true });
  }

  /** Waits until the previous write has ended, and begins to write the filled buffer. */
  async #flush(): Promise<void> {
    await this.#writing;
    if (!this.#buffer) return;
    this.#previousSize = this.#buffer.byteLength;
    this.#writing = this.#writeOut(this.#buffer, this.#filledBytes, this.#position);
    this.#writing.catch(() => {}); // the next call reports the error
    this.#position += this.#filledBytes;
    this.#filledBytes = 0;
    this.#buffer = null;
  }

  /**
   * Writes the beginning of a buffer, which is moved to a thread and back. If the confirmation has expired meanwhile, confirms and writes
   * again.
   */
  async #writeOut(buffer: ArrayBuffer, length: number, position: number): Promise<void> {
    await this.#confirm?.();
    const confirmedAt = this.#confirm ? monotonicTime() : null;
    const result = await this.#folder.threads.data.run('writeUpload', [this.#stagedUpload, buffer, length, position, confirmedAt], {
      ...{ client: this.#client, moved: [buffer], onLateResult: () => {}, onEnd: this.#markInUse() },
    });
    if (result.count < length) return this.#writeOut(result.buffer, length, position);
    this.#folder.writeBuffers.giveBack(result.buffer);
  }

  /** Records that a thread uses the descriptors. @returns a function to call when the thread no longer uses them */
  #markInUse(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#descriptorsUnused = promise;
    return resolve;
  }
}
