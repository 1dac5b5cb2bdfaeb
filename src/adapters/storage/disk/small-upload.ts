import type { Confirm, Upload, UploadTarget } from '#ports/storage.ts';
import type { ConfirmedAt } from './confirmation.ts';
import { createStagingFile } from './create-staging-file.ts';
import type { FreeSpaceFloor } from './free-space.ts';
import { monotonicTime } from './monotonic-time.ts';
import type { OpenFolder } from './open-folders.ts';
import { placeDiskUpload } from './place-upload.ts';
import type { Placing, StagedUpload } from './staged-upload.ts';
import type { StoredSmallFile } from './store-small-file.ts';

/** The largest file that is received before its staging file is created, in bytes. */
export const maxSmallUpload = 1 << 16;

/** The parts of a location's open folder that a small upload uses. */
type UploadFolder = Pick<OpenFolder, 'threads' | 'pages' | 'spareMarks'>;

interface NewSmallUpload {
  readonly target: UploadTarget & { readonly size: number };
  readonly token: string;
  readonly placing: Placing;
  readonly floor: FreeSpaceFloor;
}

/**
 * Receives a small file whose size is known. One call to a thread stores it: a call costs more than writing the bytes.
 */
export class SmallUpload implements Upload {
  readonly handle = null;
  readonly #upload: NewSmallUpload;
  readonly #folder: UploadFolder;
  readonly #bytes: Uint8Array<ArrayBuffer>;
  #filledBytes = 0;
  /** Whether the file was sent to a thread. */
  #isSent = false;
  /** The staging file, if it is open. */
  #staged: StagedUpload | null = null;
  /** Whether the file is in place, and its evidence is only a mark, which another upload may use. */
  #isMarked = false;

  constructor(upload: NewSmallUpload, folder: UploadFolder) {
    this.#upload = upload;
    this.#folder = folder;
    this.#bytes = new Uint8Array(upload.target.size);
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#bytes.set(chunk, this.#filledBytes);
    this.#filledBytes += chunk.length;
  }

  /** Does nothing: `place` makes the bytes durable. */
  async sync(): Promise<void> {}

  async place(confirm?: Confirm): Promise<string> {
    await confirm?.();
    const stored = await this.#store(confirm ? monotonicTime() : null);
    if ('name' in stored) {
      this.#isMarked = stored.name === this.#upload.target.name; // for another name, there is a note, too
      return stored.name;
    }
    this.#staged = stored.staged;
    await confirm?.();
    return placeDiskUpload(this.#folder, stored.staged, this.#upload.placing, this.#client);
  }

  async discard(): Promise<void> {
    const { threads, spareMarks } = this.#folder;
    const { target, token } = this.#upload;
    if (this.#isMarked) spareMarks.add(token);
    else if (this.#staged) await threads.data.run('discardUpload', [this.#staged], { client: this.#client, always: true });
    else if (this.#isSent) await threads.changes.run('clearEvidence', [{ action: 'upload', ...target, newName: '', token, handle: null }]);
  }

  /** An upload that continues later needs a staging file, even an empty one. Bytes that were not sent to a thread are not kept. */
  async closeForRecovery(): Promise<void> {
    const staged = this.#isSent ? this.#staged : await createStagingFile(this.#folder.threads, this.#upload);
    if (staged) await this.#folder.threads.data.run('closeUpload', [staged], { client: this.#client, always: true });
  }

  get #client() {
    return this.#upload.target.client;
  }

  /** Stores the file, or only stages it. */
  async #store(confirmedAt: ConfirmedAt): Promise<StoredSmallFile> {
    const { target, token, placing, floor } = this.#upload;
    const { threads, pages, spareMarks } = this.#folder;
    const content = this.#bytes.subarray(0, this.#filledBytes);
    const spareMark = spareMarks.take();
    this.#isSent = true;
    let stored: StoredSmallFile | null = null;
    try {
      const options = { freeSpace: floor, confirmedAt, spareMark };
      stored = await threads.syncs.run('storeSmallUpload', [{ parent: target.parent, token, content }, placing, options], {
        ...{ client: this.#client, moved: [content.buffer] },
      });
      return stored;
    } finally {
      pages.clear();
      if (spareMark !== null && !(stored && 'name' in stored)) spareMarks.add(spareMark); // it was probably not used
    }
  }
}
