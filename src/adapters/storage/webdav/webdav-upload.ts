import { dropBoxNames } from '#adapters/storage/drop-box-names.ts';
import { type PartSpace, UploadPart } from '#adapters/storage/part-space.ts';
import type { SpooledFile, UploadSpool } from '#adapters/storage/upload-spool.ts';
import type { OutboundBody } from '#ports/outbound.ts';
import {
  type ClosedUpload,
  type ContinuedUpload,
  ItemChanged,
  ItemExists,
  ItemNotFound,
  StorageUnavailable,
  type Upload,
  type UploadTarget,
} from '#ports/storage.ts';
import { isSameVersion, type WebdavEntry } from './webdav-entries.ts';
import type { WebdavEvidence } from './webdav-evidence.ts';
import type { WebdavMoves } from './webdav-moves.ts';

const bodyTimeLimit = 3_600_000; // ms until a file is stored

/** Where files are uploaded to. */
interface UploadPlace {
  readonly evidence: WebdavEvidence;
  readonly moves: WebdavMoves;
  readonly parts: PartSpace;
  readonly spool: UploadSpool;
  readonly tid: number;
}

/** What an upload has collected. */
interface CollectedFile {
  readonly length: number;
  append(chunk: Uint8Array): Promise<void>;
  body(): OutboundBody;
}

/** An upload. The file is collected on this machine and sent with one request: WebDAV has no request that continues a file. */
class WebdavUpload implements Upload {
  readonly handle = null;
  readonly #evidence: WebdavEvidence;
  readonly #moves: WebdavMoves;
  readonly #target: UploadTarget;
  readonly #token: string;
  readonly #content: CollectedFile;
  /** Gives back the space of what was collected. */
  readonly #clear: () => Promise<void>;
  #isSent = false;
  #size = 0;

  constructor({ evidence, moves }: UploadPlace, target: UploadTarget, token: string, content: CollectedFile, clear: () => Promise<void>) {
    this.#evidence = evidence;
    this.#moves = moves;
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
    const { server } = this.#evidence;
    const request = { body: this.#content.body(), timeLimit: bodyTimeLimit, repeatable: true, expected: [404, 409] };
    await this.#evidence.write(() => server.sendAndRead('PUT', server.urlOf(this.#evidence.staged(this.#token)), request));
    this.#size = this.#content.length;
    this.#isSent = true;
    await this.#clear();
  }

  async place(): Promise<string> {
    await this.sync();
    await this.#checkStored();
    const { parent, name, ifTaken } = this.#target;
    if (!(await hasFolder(this.#evidence, parent))) throw new ItemNotFound('there is no such folder');
    if (ifTaken === 'number') return this.#placeNumbered();
    const existing = await this.#evidence.find([...parent, name]);
    if (ifTaken === 'refuse') {
      if (existing) throw new ItemExists('the name is taken');
    } else if (!existing || existing.folder || !isSameVersion(existing.etag, ifTaken.replaces))
      throw new ItemChanged('the file has changed');
    await this.#move(name, existing);
    return name;
  }

  async discard(): Promise<void> {
    await this.#clear();
    await this.#evidence.clear(this.#token);
  }

  closeForRecovery(): Promise<void> {
    return this.#clear();
  }

  /** Checks that the server has stored all bytes. @throws StorageUnavailable */
  async #checkStored(): Promise<void> {
    const stored = await this.#evidence.find(this.#evidence.staged(this.#token));
    const hasSize = stored !== null && (stored.size > 0 || stored.isEmpty === true); // some servers list no sizes
    if (hasSize && stored.size !== this.#size) throw new StorageUnavailable('the server has stored another number of bytes');
  }

  async #placeNumbered(): Promise<string> {
    const { parent, name } = this.#target;
    for (const candidate of dropBoxNames(name, this.#token)) {
      if (await this.#evidence.find([...parent, candidate])) continue;
      try {
        await this.#move(candidate, null);
        return candidate;
      } catch (cause) {
        if (!(cause instanceof ItemExists)) throw cause;
      }
    }
    throw new ItemExists('all names are taken');
  }

  /** @param replaced null: the name must be free */
  #move(name: string, replaced: WebdavEntry | null): Promise<void> {
    const entry = { name, folder: false, size: this.#size, modified: null, etag: '', hasServerEtag: false };
    const to = [...this.#target.parent, name];
    return this.#moves.run({ token: this.#token, from: this.#evidence.staged(this.#token), to, entry, ...(replaced ? { replaced } : {}) });
  }
}

const hasFolder = async (evidence: WebdavEvidence, path: readonly string[]): Promise<boolean> =>
  path.length === 0 || (await evidence.find(path))?.folder === true;

/** Starts an upload. @throws ItemNotFound if there is no such folder */
export async function startWebdavUpload(place: UploadPlace, target: UploadTarget, token: string): Promise<Upload> {
  if (!(await hasFolder(place.evidence, target.parent))) throw new ItemNotFound('there is no such folder');
  await place.evidence.prepare(); // before a body is received in vain
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

/** Continues an upload that `startWebdavUpload` has begun. @throws ItemNotFound if what has arrived is gone; StorageFull */
export async function continueWebdavUpload(
  place: UploadPlace,
  target: UploadTarget,
  { token, offset }: ClosedUpload,
): Promise<ContinuedUpload> {
  const { spool, tid } = place;
  const file = await spool.open(tid, token, offset, target.size ?? offset);
  const upload = new WebdavUpload(place, target, token, file, async () => {});
  return new SpooledUpload(upload, file, () => spool.delete(tid, token));
}
