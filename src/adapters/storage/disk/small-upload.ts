import type { Confirm, Upload, UploadTarget } from '#ports/storage.ts';
import { createStagingFile, discardLate } from './create-staging-file.ts';
import type { FreeSpaceFloor } from './free-space.ts';
import type { OpenFolder } from './open-folders.ts';
import { placeDiskUpload } from './place-upload.ts';
import type { Placing, StagedUpload } from './staged-upload.ts';

/** The largest file that is received before its staging file is created, in bytes. */
export const maxSmallUpload = 1 << 16;

interface NewSmallUpload {
  readonly target: UploadTarget & { readonly size: number };
  readonly token: string;
  readonly placing: Placing;
  readonly floor: FreeSpaceFloor;
}

/**
 * Receives a small file whose size is known. One call to a thread creates, writes and syncs its staging file: a call costs more than
 * writing the bytes.
 */
export class SmallUpload implements Upload {
  readonly handle = null;
  readonly #upload: NewSmallUpload;
  readonly #folder: Pick<OpenFolder, 'threads' | 'pages'>;
  readonly #bytes: Uint8Array<ArrayBuffer>;
  #filledBytes = 0;
  /** null: the staging file was not requested yet. */
  #staging: Promise<StagedUpload> | null = null;

  constructor(upload: NewSmallUpload, folder: Pick<OpenFolder, 'threads' | 'pages'>) {
    this.#upload = upload;
    this.#folder = folder;
    this.#bytes = new Uint8Array(upload.target.size);
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#bytes.set(chunk, this.#filledBytes);
    this.#filledBytes += chunk.length;
  }

  async sync(): Promise<void> {
    await this.#stage();
  }

  async place(confirm?: Confirm): Promise<string> {
    const stagedUpload = await this.#stage();
    await confirm?.();
    return placeDiskUpload(this.#folder, stagedUpload, this.#upload.placing, this.#client);
  }

  async discard(): Promise<void> {
    const stagedUpload = await this.#staging?.catch(() => null);
    if (stagedUpload) await this.#folder.threads.data.run('discardUpload', [stagedUpload], { client: this.#client, always: true });
  }

  /** An upload that continues later needs a staging file, even an empty one. Bytes that were not synced are not kept. */
  async closeForRecovery(): Promise<void> {
    const stagedUpload = await (this.#staging?.catch(() => null) ?? createStagingFile(this.#folder.threads, this.#upload));
    if (stagedUpload) await this.#folder.threads.data.run('closeUpload', [stagedUpload], { client: this.#client, always: true });
  }

  get #client() {
    return this.#upload.target.client;
  }

  /** Writes the staging file, at the first call. */
  #stage(): Promise<StagedUpload> {
    this.#staging ??= this.#writeStagingFile();
    return this.#staging;
  }

  /** Creates the staging file with all bytes, durably. A file that a thread creates too late is deleted. */
  #writeStagingFile(): Promise<StagedUpload> {
    const { target, token, floor } = this.#upload;
    const content = this.#bytes.subarray(0, this.#filledBytes);
    return this.#folder.threads.syncs.run('stageSmallUpload', [target.parent, token, content, floor], {
      ...{ client: this.#client, moved: [content.buffer] },
      onLateResult: (late) => discardLate(this.#folder.threads, late, this.#client),
    });
  }
}
