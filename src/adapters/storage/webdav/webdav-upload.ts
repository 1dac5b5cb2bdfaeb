import { checkFolder, placeUpload, type StagingPlace } from '#adapters/storage/moves/place-upload.ts';
import { type PartSpace, UploadPart } from '#adapters/storage/part-space.ts';
import type { SpooledFile, UploadSpool } from '#adapters/storage/upload-spool.ts';
import type { OutboundBody } from '#ports/outbound.ts';
import type { ClosedUpload, ContinuedUpload, Upload, UploadTarget } from '#ports/storage.ts';
import type { WebdavServer } from './webdav-server.ts';

const bodyTimeLimit = 3_600_000; // ms until a file is stored

/** The location to which files are uploaded, and the space in which they are collected. */
interface WebdavPlace extends StagingPlace {
  readonly server: WebdavServer;
  readonly parts: PartSpace;
  readonly spool: UploadSpool;
  readonly tid: number;
}

/** The bytes that an upload has collected. */
interface CollectedFile {
  readonly length: number;
  append(chunk: Uint8Array): Promise<void>;
  body(): OutboundBody;
}

/** An upload. The file is collected on this machine and sent with one request: WebDAV has no request that continues a file. */
class WebdavUpload implements Upload {
  readonly handle = null;
  readonly #place: WebdavPlace;
  readonly #target: UploadTarget;
  readonly #token: string;
  readonly #content: CollectedFile;
  /** Gives back the space of the collected bytes. */
  readonly #clear: () => Promise<void>;
  #isSent = false;
  #size = 0;

  constructor(place: WebdavPlace, target: UploadTarget, token: string, content: CollectedFile, clear: () => Promise<void>) {
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
    const request = { body: this.#content.body(), timeLimit: bodyTimeLimit, repeatable: true, expected: [404, 409] };
    await evidence.write(
      async () => (await server.sendAndRead('PUT', server.urlOf(evidence.stagedPath(this.#token)), request)).status < 300,
    );
    this.#size = this.#content.length;
    this.#isSent = true;
    await this.#clear();
  }

  async place(): Promise<string> {
    await this.sync();
    return placeUpload(this.#place, this.#target, { token: this.#token, size: this.#size });
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
export async function startWebdavUpload(place: WebdavPlace, target: UploadTarget, token: string): Promise<Upload> {
  await checkFolder(place, target.parent);
  await place.evidence.prepare(); // an error must come before the body is received
  const content = new UploadPart(place.parts);
  return new WebdavUpload(place, target, token, content, () => content.clear());
}

/** An upload in parts. What has arrived is kept in the spool until the file is in place. */
class SpooledUpload implements ContinuedUpload {
  readonly handle = null;
  readonly #upload: WebdavUpload;
  readonly #file: SpooledFile;
  /** Deletes the file. */
  readonly #delete: () => Promise<void>;

  constructor(upload: WebdavUpload, file: SpooledFile, deleteFile: () => Promise<void>) {
    this.#upload = upload;
    this.#file = file;
    this.#delete = deleteFile;
  }

  write(chunk: Uint8Array): Promise<void> {
    return this.#file.append(chunk);
  }

  sync(): Promise<void> {
    return this.#file.sync();
  }

  readBack(): AsyncIterable<Uint8Array> {
    return this.#file.body().pieces;
  }

  async place(): Promise<string> {
    await this.#file.sync();
    return this.#upload.place();
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

/** Continues an upload that `startWebdavUpload` has begun. @throws ItemNotFound if the received bytes are gone; StorageFull */
export async function continueWebdavUpload(
  place: WebdavPlace,
  target: UploadTarget,
  { token, offset }: ClosedUpload,
): Promise<ContinuedUpload> {
  const { spool, tid } = place;
  const file = await spool.open(tid, { token, offset, size: target.size ?? offset }, target.client);
  const upload = new WebdavUpload(place, target, token, file, async () => {});
  return new SpooledUpload(upload, file, () => spool.delete(tid, token));
}
