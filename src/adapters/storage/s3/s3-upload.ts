import { type PartSpace, UploadPart } from '#adapters/storage/part-space.ts';
import { nameError, numberedName } from '#core/item-path.ts';
import { ItemChanged, ItemExists, ItemNotFound, type Upload, type UploadTarget } from '#ports/storage.ts';
import type { S3Bucket } from './s3-bucket.ts';
import type { S3Conditions } from './s3-conditions.ts';
import type { S3Folders } from './s3-folders.ts';
import { hasKeys } from './s3-list.ts';
import {
  abortMultipart,
  completeMultipart,
  copyObject,
  createEmptyObject,
  deleteObjects,
  describeObject,
  startMultipart,
  tokenHeader,
} from './s3-objects.ts';

/** Bytes of a part of a large upload. All but the last must have at least 5 MiB, and there may be 10,000. */
const smallestPart = 8 << 20;
const maxParts = 10_000;
/** Sizes of the parts of an upload of unknown length, from this number of sent parts on: 2.5 TiB together. Few services need equal parts. */
const growingParts = [
  { from: 5000, size: 512 << 20 },
  { from: 1000, size: 64 << 20 },
];
const partTimeLimit = 600_000; // ms
const numbers = [2, 3, 4, 5, 6, 7, 8, 9]; // that a drop box tries, before it adds a random suffix

/** Returns the size of the next part. @param size of the file; null: unknown */
function nextPartSize(size: number | null, sentParts: number): number {
  if (size !== null) return Math.max(smallestPart, Math.ceil(size / maxParts));
  return growingParts.find(({ from }) => sentParts >= from)?.size ?? smallestPart;
}

const stagedPart = (token: string) => `${token}.part`;
const placedName = (token: string) => `${token}.name`;
/** The token of an empty object that keeps a key for an upload. */
const claimToken = (token: string) => `${token}.claim`;
const maxNote = 1 << 20; // bytes: a service may describe an error

/** Key at which an upload of several parts is completed. The name of a drop box's file is not known before. */
const keyOf = ({ keys }: S3Folders, { parent, name, ifTaken }: UploadTarget, token: string) =>
  ifTaken === 'number' ? keys.staging(stagedPart(token)) : keys.file([...parent, name]);

/** Where files are uploaded to. */
interface UploadPlace {
  readonly folders: S3Folders;
  readonly conditions: S3Conditions;
  readonly parts: PartSpace;
}

/** Deletes the empty object that keeps a key for an upload, if it is still there. */
async function deleteClaim(bucket: S3Bucket, key: string, token: string): Promise<void> {
  const object = await describeObject(bucket, key);
  if (object?.token === claimToken(token)) await deleteObjects(bucket, [key]);
}

/** An upload: one request for a small file, several parts for a large one or one of unknown size. */
class S3Upload implements Upload {
  readonly handle: string | null;
  readonly #folders: S3Folders;
  readonly #conditions: S3Conditions;
  readonly #target: UploadTarget;
  readonly #token: string;
  /** The part that is being collected; of a small file, all of it. */
  readonly #part: UploadPart;
  readonly #etags: string[] = [];
  #isPlaced = false;

  constructor({ folders, conditions, parts }: UploadPlace, target: UploadTarget, token: string, handle: string | null) {
    this.#folders = folders;
    this.#conditions = conditions;
    this.#target = target;
    this.#token = token;
    this.handle = handle;
    this.#part = new UploadPart(parts);
  }

  async write(chunk: Uint8Array): Promise<void> {
    if (this.handle === null) return this.#part.append(chunk);
    for (let start = 0; start < chunk.length; ) {
      const partSize = nextPartSize(this.#target.size, this.#etags.length);
      const end = Math.min(chunk.length, start + partSize - this.#part.length);
      await this.#part.append(chunk.subarray(start, end));
      start = end;
      if (this.#part.length === partSize) await this.#sendPart(this.handle);
    }
  }

  async sync(): Promise<void> {
    if (this.handle !== null && (this.#part.length > 0 || this.#etags.length === 0)) await this.#sendPart(this.handle);
  }

  async place(): Promise<string> {
    await this.sync();
    const { parent, name, ifTaken } = this.#target;
    if (!(await this.#folders.hasFolder(parent))) throw new ItemNotFound('there is no such folder');
    if (ifTaken === 'number') return this.#placeNumbered();
    await this.#checkTarget(ifTaken);
    await this.#complete(this.#folders.keys.file([...parent, name]));
    return name;
  }

  async discard(): Promise<void> {
    await this.#part.clear();
    if (this.handle !== null && !this.#isPlaced) await abortMultipart(this.#folders.bucket, this.#key, this.handle);
    await clearUpload(this.#folders, this.#token, this.#target.ifTaken === 'number');
  }

  closeForRecovery(): Promise<void> {
    return this.#part.clear();
  }

  get #key(): string {
    return keyOf(this.#folders, this.#target, this.#token);
  }

  async #sendPart(uploadId: string): Promise<void> {
    const query = { partNumber: `${this.#etags.length + 1}`, uploadId };
    const request = { query, body: this.#part.body(), expected: [404], timeLimit: partTimeLimit, repeatable: true };
    const response = await this.#folders.bucket.store(this.#key, request);
    await this.#part.clear();
    if (response.status >= 300) throw new ItemChanged('the service has ended the upload');
    this.#etags.push(response.headers['etag'] ?? '');
  }

  /** Checks the name of the upload. @throws ItemExists if it is in use; ItemChanged if the file to replace has changed */
  async #checkTarget(ifTaken: 'refuse' | { readonly replaces: string }): Promise<void> {
    const existing = await this.#folders.entry([...this.#target.parent, this.#target.name]);
    if (ifTaken === 'refuse') {
      if (existing) throw new ItemExists('the name is taken');
    } else if (!existing || existing.folder || existing.etag !== ifTaken.replaces) throw new ItemChanged('the file has changed');
  }

  /** Puts the file of a drop box in place under the first free name. */
  async #placeNumbered(): Promise<string> {
    const { parent, name } = this.#target;
    if (this.handle !== null) await this.#completeMultipart(this.handle, {});
    for (const candidate of [name, ...numbers.map((number) => numberedName(name, number)), numberedName(name, this.#token)]) {
      if (await this.#folders.entry([...parent, candidate])) continue;
      await this.#noteName(candidate);
      const key = this.#folders.keys.file([...parent, candidate]);
      if (this.handle === null ? !(await this.#putWhole(key)) : !(await this.#copyStaged(key))) continue;
      this.#isPlaced = true;
      return candidate;
    }
    throw new ItemExists('each name is taken');
  }

  /** Notes the name of a drop box's file, which recovery could not guess. */
  async #noteName(name: string): Promise<void> {
    const { bucket, keys } = this.#folders;
    await bucket.store(keys.staging(placedName(this.#token)), { body: name, repeatable: true });
  }

  /** Makes the object visible under its key. @throws ItemExists, ItemChanged */
  async #complete(key: string): Promise<void> {
    if (this.handle !== null) await this.#completeMultipart(this.handle, await this.#condition());
    else if (!(await this.#putWhole(key))) throw this.#collision();
    this.#isPlaced = true;
  }

  async #completeMultipart(uploadId: string, condition: Readonly<Record<string, string>>): Promise<void> {
    if (!(await completeMultipart(this.#folders.bucket, this.#key, uploadId, this.#etags, condition))) throw this.#collision();
  }

  /** Stores the file with one request. @returns false if another program has written the object meanwhile */
  async #putWhole(key: string): Promise<boolean> {
    const headers = { [tokenHeader]: this.#token, ...(await this.#condition()) };
    // A service may answer 404 if the object to replace was deleted.
    const request = { headers, body: this.#part.body(), expected: [404, 409, 412], timeLimit: partTimeLimit };
    return (await this.#folders.bucket.store(key, request)).status < 300;
  }

  /**
   * Claims a key with an empty object, and copies the uploaded object over it: a copy knows no condition.
   * @returns false if the key was taken meanwhile
   */
  async #copyStaged(key: string): Promise<boolean> {
    const { bucket } = this.#folders;
    if (!(await createEmptyObject(bucket, key, claimToken(this.#token)))) return false;
    const staged = await describeObject(bucket, this.#key);
    if (!staged) {
      await deleteClaim(bucket, key, this.#token);
      throw new ItemChanged('the uploaded file was deleted');
    }
    try {
      await copyObject(bucket, staged, key, { token: this.#token, overwrites: true }); // replaces the claim
      return true;
    } catch (cause) {
      if (cause instanceof ItemChanged) await deleteClaim(bucket, key, this.#token);
      throw cause;
    }
  }

  /** Returns the headers of a request that must not replace another file. */
  async #condition(): Promise<Readonly<Record<string, string>>> {
    const { ifTaken } = this.#target;
    return typeof ifTaken === 'object' ? this.#conditions.ifMatches(ifTaken.replaces) : this.#conditions.ifAbsent;
  }

  #collision(): ItemExists | ItemChanged {
    return typeof this.#target.ifTaken === 'object' ? new ItemChanged('the file has changed') : new ItemExists('the name is taken');
  }
}

/** Starts an upload. @throws ItemNotFound if there is no such folder */
export async function startS3Upload(place: UploadPlace, target: UploadTarget, token: string): Promise<Upload> {
  const { folders } = place;
  if (!(await folders.hasFolder(target.parent))) throw new ItemNotFound('there is no such folder');
  folders.checkLengths([folders.keys.file([...target.parent, target.name])]);
  const isSmall = target.size !== null && target.size <= smallestPart;
  const handle = isSmall ? null : await startMultipart(folders.bucket, keyOf(folders, target, token), { [tokenHeader]: token });
  return new S3Upload(place, target, token, handle);
}

/** Returns the name of the file that an upload has made, or null. Deletes the claim of an upload that was not completed. */
export async function recoverUpload(folders: S3Folders, parent: readonly string[], name: string, token: string): Promise<string | null> {
  const { bucket, keys } = folders;
  await hasKeys(bucket, keys.folder([])); // if there is no bucket, nothing is known
  const noted = await bucket.readObject(keys.staging(placedName(token)), maxNote);
  const placed = noted !== null && nameError(noted) === null ? noted : name;
  await deleteClaim(bucket, keys.file([...parent, placed]), token);
  const file = await folders.file([...parent, placed]);
  return file?.token === token ? placed : null;
}

/** Ends the multipart upload of an upload that recovery has looked at. A drop box's upload has a key in the staging area. */
export async function abortUpload({ bucket, keys }: S3Folders, path: readonly string[], token: string, handle: string): Promise<void> {
  for (const key of [keys.file(path), keys.staging(stagedPart(token))]) await abortMultipart(bucket, key, handle);
}

/** Deletes the traces of an upload. @param isNumbered whether a number may have been added to its name */
export async function clearUpload({ bucket, keys }: S3Folders, token: string, isNumbered: boolean): Promise<void> {
  if (isNumbered)
    await deleteObjects(
      bucket,
      [stagedPart(token), placedName(token)].map((name) => keys.staging(name)),
    );
}
