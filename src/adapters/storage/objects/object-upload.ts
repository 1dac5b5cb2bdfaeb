import { dropBoxNames, withoutLock } from '#adapters/storage/drop-box-names.ts';
import { type PartSpace, UploadPart } from '#adapters/storage/part-space.ts';
import type { Confirm, ContinuedUpload, LockName, UploadTarget } from '#ports/storage.ts';
import { ChangeImpossible, ItemChanged, ItemExists, ItemNotFound, StorageUnavailable } from '#ports/storage-errors.ts';
import { openObjectFile } from './object-file.ts';
import type { ObjectFolders } from './object-folders.ts';
import type { WriteCondition } from './object-store.ts';
import { nextPartSize } from './part-sizes.ts';
import { claimToken, clearUpload, deleteClaim, multipartKey } from './upload-evidence.ts';
import type { UploadProgress } from './upload-progress.ts';

/** The location to which files are uploaded, and the space in which parts are collected. */
export interface ObjectPlace {
  readonly folders: ObjectFolders;
  readonly parts: PartSpace;
}

/** An upload: one request to the service for a small file, parts for a large file or one of unknown size. */
export class ObjectUpload implements ContinuedUpload {
  readonly handle: string | null;
  readonly #folders: ObjectFolders;
  readonly #target: UploadTarget;
  readonly #token: string;
  /** The part that is being collected; for a small file, the entire file. */
  readonly #part: UploadPart;
  readonly #partIds: string[] = [];
  /** Saves what has arrived, so that a later request can continue the upload; null: the client sends the file in one request. */
  readonly #progress: UploadProgress | null;
  readonly #confirm: Confirm | undefined;
  /** Key of the visible object. */
  #placedKey: string | null = null;
  /** Whether the parts of an upload to a drop box are one object in the staging area. */
  #isJoined = false;

  constructor(
    { folders, parts }: ObjectPlace,
    target: UploadTarget,
    token: string,
    handle: string | null,
    continued?: { readonly progress: UploadProgress; readonly confirm: Confirm | undefined },
  ) {
    this.#folders = folders;
    this.#target = target;
    this.#token = token;
    this.handle = handle;
    this.#part = new UploadPart(parts);
    this.#progress = continued?.progress ?? null;
    this.#confirm = continued?.confirm;
  }

  /** Loads the bytes that earlier requests have sent. @param offset number of bytes to keep @throws ItemNotFound if they are gone */
  async restore(offset: number): Promise<void> {
    if (offset === 0) return;
    const partSize = nextPartSize(this.#target.size, 0);
    // If the offset is the end of a part, this part may or may not have been sent to the service.
    const counts = this.handle === null ? [0] : new Set([Math.ceil(offset / partSize) - 1, Math.floor(offset / partSize)]);
    for (const count of counts) {
      const partIds = await this.#progress?.load(count, offset - count * partSize, (piece) => this.#part.append(piece));
      if (!partIds) continue;
      this.#partIds.push(...partIds);
      return;
    }
    throw new ItemNotFound('the uploaded bytes are gone');
  }

  async write(chunk: Uint8Array): Promise<void> {
    await this.#confirm?.();
    if (this.handle === null) return this.#part.append(chunk);
    for (let start = 0; start < chunk.length; ) {
      const partSize = nextPartSize(this.#target.size, this.#partIds.length);
      // A full part is sent only when more bytes follow. If the file cannot be put in place, the client sends the last byte again: the
      // upload then needs the last part, which `sync` has saved.
      if (this.#part.length === partSize) await this.#sendPart(this.handle);
      const end = Math.min(chunk.length, start + partSize - this.#part.length);
      await this.#part.append(chunk.subarray(start, end));
      start = end;
    }
  }

  async sync(): Promise<void> {
    await this.#confirm?.();
    if (this.#progress) await this.#progress.save(this.#partIds, this.#part.body());
    else await this.#sendLastPart();
  }

  async *readBack(): AsyncIterable<Uint8Array> {
    const { store } = this.#folders;
    const file = this.#placedKey === null ? null : await openObjectFile(store, this.#placedKey, this.#target.name);
    if (!file) throw new StorageUnavailable('the uploaded file no longer exists');
    yield* file.read({ start: 0, end: file.entry.size - 1 });
  }

  async place(confirm?: Confirm, lockName: LockName = withoutLock): Promise<string> {
    const { parent, name, ifTaken } = this.#target;
    if (ifTaken === 'number') return this.#placeNumbered(confirm, lockName);
    await this.#sendLastPart();
    await this.#checkParent();
    await this.#checkTarget(ifTaken);
    await confirm?.();
    await this.#complete(this.#folders.keys.file([...parent, name]));
    return name;
  }

  async discard(): Promise<void> {
    await this.#part.clear();
    if (this.handle !== null && this.#placedKey === null) await this.#folders.store.abortParts(this.#key, this.handle);
    await this.#progress?.clear();
    await clearUpload(this.#folders, this.#token, this.#target.ifTaken === 'number');
  }

  closeForRecovery(): Promise<void> {
    return this.#part.clear();
  }

  get #key(): string {
    return multipartKey(this.#folders, this.#target, this.#token);
  }

  async #sendLastPart(): Promise<void> {
    if (this.handle !== null && (this.#part.length > 0 || this.#partIds.length === 0)) await this.#sendPart(this.handle);
  }

  async #sendPart(uploadId: string): Promise<void> {
    const id = await this.#folders.store.putPart(this.#key, uploadId, this.#partIds.length + 1, this.#part.body());
    await this.#part.clear();
    this.#partIds.push(id);
  }

  /** Checks the name of the upload. @throws ItemExists if it is in use; ItemChanged if the file to replace has changed */
  async #checkTarget(ifTaken: 'refuse' | { readonly replaces: string }): Promise<void> {
    const existing = await this.#folders.entry([...this.#target.parent, this.#target.name]);
    if (ifTaken === 'refuse') {
      if (existing) throw new ItemExists('the name is taken');
    } else if (!existing || existing.folder || existing.etag !== ifTaken.replaces) throw new ItemChanged('the file has changed');
  }

  /** Puts the file of a drop box in place under the first free name. */
  async #placeNumbered(confirm: Confirm | undefined, lockName: LockName): Promise<string> {
    const { parent, name } = this.#target;
    this.#isJoined = await this.#wasJoined();
    if (!this.#isJoined) await this.#sendLastPart();
    await this.#checkParent();
    for (const candidate of dropBoxNames(name, this.#token)) {
      if (await this.#folders.entry([...parent, candidate])) continue;
      if (await lockName(candidate, () => this.#placeAs(candidate, confirm))) return candidate;
    }
    throw new ItemExists('all names are taken');
  }

  /** Puts the file of a drop box in place under a name, under its lock. @returns false if the name was taken meanwhile */
  async #placeAs(name: string, confirm: Confirm | undefined): Promise<boolean> {
    const { parent } = this.#target;
    await this.#checkParent(); // it may have been renamed or deleted while the lock was waited for
    if (await this.#folders.entry([...parent, name])) return false;
    await confirm?.();
    const key = this.#folders.keys.file([...parent, name]);
    const isPlaced = this.handle === null ? this.#putFile(key) : this.#joinAndCopy(this.handle, key, confirm);
    if (!(await isPlaced)) return false;
    this.#placedKey = key;
    return true;
  }

  /** Returns whether an earlier request has joined the parts, but has not copied them to a name: then the service knows no parts any more. */
  async #wasJoined(): Promise<boolean> {
    if (this.handle === null || !this.#progress) return false;
    const staged = await this.#folders.store.describe(this.#key);
    return staged !== null && staged.token === this.#token && staged.size === this.#target.size;
  }

  async #joinAndCopy(uploadId: string, key: string, confirm: Confirm | undefined): Promise<boolean> {
    if (!this.#isJoined) await this.#joinParts(uploadId, 'none');
    this.#isJoined = true;
    return this.#copyStaged(key, confirm);
  }

  /** @throws ItemNotFound */
  async #checkParent(): Promise<void> {
    if (!(await this.#folders.hasFolder(this.#target.parent))) throw new ItemNotFound('there is no such folder');
  }

  /** Makes the object visible under its key. @throws ItemExists, ItemChanged */
  async #complete(key: string): Promise<void> {
    if (this.handle !== null) await this.#joinParts(this.handle, this.#condition);
    else if (!(await this.#putFile(key))) throw this.#collision();
    this.#placedKey = key;
  }

  async #joinParts(uploadId: string, condition: WriteCondition): Promise<void> {
    const options = { token: this.#token, condition };
    if (!(await this.#folders.store.joinParts(this.#key, uploadId, this.#partIds, options))) throw this.#collision();
  }

  /** Stores the file with one request. @returns false if the object was written meanwhile, so that the condition is not met */
  #putFile(key: string): Promise<boolean> {
    return this.#folders.store.put(key, this.#part.body(), { token: this.#token, condition: this.#condition });
  }

  /**
   * Claims a key with an empty object, and copies the uploaded object over the claim: some services cannot copy under a condition.
   * @returns false if the key was taken meanwhile
   */
  async #copyStaged(key: string, confirm: Confirm | undefined): Promise<boolean> {
    const { store } = this.#folders;
    if (!(await store.put(key, '', { condition: 'absent', token: claimToken(this.#token) }))) return false;
    const stagedObject = await store.describe(this.#key);
    if (!stagedObject) {
      await deleteClaim(store, key, this.#token, confirm);
      throw new ItemChanged('the uploaded file was deleted');
    }
    try {
      await store.copy(stagedObject, key, { token: this.#token, overwrites: true }); // replaces the claim
      return true;
    } catch (cause) {
      if (cause instanceof ItemChanged || cause instanceof ChangeImpossible) await deleteClaim(store, key, this.#token, confirm);
      throw cause;
    }
  }

  /** The condition under which no other file is replaced. */
  get #condition(): WriteCondition {
    const { ifTaken } = this.#target;
    return typeof ifTaken === 'object' ? { etag: ifTaken.replaces } : 'absent';
  }

  #collision(): ItemExists | ItemChanged {
    return typeof this.#target.ifTaken === 'object' ? new ItemChanged('the file has changed') : new ItemExists('the name is taken');
  }
}
