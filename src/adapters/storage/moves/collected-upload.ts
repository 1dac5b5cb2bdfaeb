import { type PartSpace, UploadPart } from '#adapters/storage/part-space.ts';
import type { SpooledFile, UploadSpool } from '#adapters/storage/upload-spool.ts';
import type { OutboundBody } from '#ports/outbound.ts';
import type { ClosedUpload, Confirm, ContinuedUpload, LockName, Upload, UploadTarget } from '#ports/storage.ts';
import type { ItemServer } from './item-server.ts';
import { checkFolder, placeUpload, type StagingPlace } from './place-upload.ts';

/** A server that gets a file only when it is complete. */
export interface FileServer extends ItemServer {
  /** Stores a file, or replaces it. @returns false if there is no such parent folder */
  storeFile(path: readonly string[], body: OutboundBody): Promise<boolean>;
}

export interface CollectingSpace {
  readonly parts: PartSpace;
  readonly spool: UploadSpool;
  readonly tid: number;
}

/** The location to which files are uploaded, and the space in which they are collected. */
interface CollectingPlace extends StagingPlace, CollectingSpace {
  readonly server: FileServer;
}

/** The bytes that an upload has collected. */
interface CollectedFile {
  readonly length: number;
  append(chunk: Uint8Array): Promise<void>;
  body(): OutboundBody;
}

/** An upload. The file is collected on this machine, and sent when it is complete. */
class CollectedUpload implements Upload {
  readonly handle = null;
  readonly #place: CollectingPlace;
  readonly #target: UploadTarget;
  readonly #token: string;
  readonly #content: CollectedFile;
  /** Gives back the space of the collected bytes. */
  readonly #clear: () => Promise<void>;
  #isSent = false;
  #size = 0;

  constructor(place: CollectingPlace, target: UploadTarget, token: string, content: CollectedFile, clear: () => Promise<void>) {
    this.#place = place;
    this.#target = target;
    this.#token = token;
    this.#content = content;
    this.#clear = clear;
  }

  write(chunk: Uint8Array): Promise<void> {
    return this.#content.append(chunk);
  }

  async sync(): Promise<void> {
    if (this.#isSent) return;
    const { server, evidence } = this.#place;
    await evidence.write(() => server.storeFile(evidence.stagedPath(this.#token), this.#content.body()));
    this.#size = this.#content.length;
    this.#isSent = true;
    await this.#clear();
  }

  async place(confirm?: Confirm, lockName?: LockName): Promise<string> {
    await this.sync();
    return placeUpload(this.#place, this.#target, { token: this.#token, size: this.#size, confirm }, lockName);
  }

  async discard(): Promise<void> {
    await this.#clear();
    await this.#place.evidence.clear(this.#token);
  }

  closeForRecovery(): Promise<void> {
    return this.#clear();
  }
}

/** Starts an upload. @throws ItemNotFound if there is no such folder */
export async function startCollectedUpload(place: CollectingPlace, target: UploadTarget, token: string): Promise<Upload> {
  await checkFolder(place, target.parent);
  await place.evidence.prepare(); // an error must come before the body is received
  const content = new UploadPart(place.parts);
  return new CollectedUpload(place, target, token, content, () => content.clear());
}

/** An upload in parts. What has arrived is kept in the spool until the file is in place. */
class SpooledUpload implements ContinuedUpload {
  readonly handle = null;
  readonly #upload: CollectedUpload;
  readonly #file: SpooledFile;
  readonly #delete: () => Promise<void>;
  readonly #confirm: Confirm | undefined;

  constructor(upload: CollectedUpload, file: SpooledFile, deleteFile: () => Promise<void>, confirm?: Confirm) {
    this.#upload = upload;
    this.#file = file;
    this.#delete = deleteFile;
    this.#confirm = confirm;
  }

  async write(chunk: Uint8Array): Promise<void> {
    await this.#confirm?.();
    return this.#file.append(chunk);
  }

  sync(): Promise<void> {
    return this.#file.sync();
  }

  readBack(): AsyncIterable<Uint8Array> {
    return this.#file.body().pieces;
  }

  async place(confirm?: Confirm, lockName?: LockName): Promise<string> {
    await this.#file.sync();
    return this.#upload.place(confirm, lockName);
  }

  async discard(): Promise<void> {
    await this.#file.close();
    await this.#delete();
    await this.#upload.discard();
  }

  closeForRecovery(): Promise<void> {
    return this.#file.close();
  }
}

/** Continues an upload that `startCollectedUpload` has begun. @throws ItemNotFound if the received bytes are gone; StorageFull */
export async function continueCollectedUpload(
  place: CollectingPlace,
  target: UploadTarget,
  { token, offset, confirm }: ClosedUpload,
): Promise<ContinuedUpload> {
  const { spool, tid } = place;
  const file = await spool.open(tid, { token, offset, size: target.size ?? offset }, target.client);
  const upload = new CollectedUpload(place, target, token, file, async () => {});
  return new SpooledUpload(upload, file, () => spool.delete(tid, token), confirm);
}
