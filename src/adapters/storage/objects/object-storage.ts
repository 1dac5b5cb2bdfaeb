import { deletionLimit } from '#adapters/storage/deletion-limit.ts';
import type { FolderListCache } from '#adapters/storage/folder-list-cache.ts';
import type { PartSpace } from '#adapters/storage/part-space.ts';
import { ServicePages } from '#adapters/storage/service-pages.ts';
import type { ItemPath } from '#core/item-path.ts';
import type { Entry, ListingPage, ListingQuery } from '#core/listing.ts';
import type {
  ChangeContext,
  ClosedUpload,
  Confirm,
  ContinuedUpload,
  FindTokensInUse,
  OpenFile,
  PendingFileChange,
  SignedHeaders,
  Storage,
  TestStep,
  Upload,
  UploadTarget,
} from '#ports/storage.ts';
import { LateRequests } from './late-requests.ts';
import { mapInBatches } from './map-in-batches.ts';
import { ObjectChanges } from './object-changes.ts';
import { openObjectFile } from './object-file.ts';
import { ObjectFolders, ObjectKeys } from './object-folders.ts';
import type { ObjectStore } from './object-store.ts';
import { objectTestSteps } from './object-test-steps.ts';
import { continueObjectUpload, startUpload } from './open-upload.ts';
import { abortUpload, clearUpload, recoverUpload } from './upload-evidence.ts';
import { isUploadProgress, UploadProgress } from './upload-progress.ts';

/** ms. Each process checks each location twice a minute, and services charge for requests. A location that failed is checked each time. */
const checkInterval = 120_000;
/**
 * ms. Younger objects of the staging area stay: they may belong to another installation that uses
 * the same bucket.
 */
const minSweepAge = 3_600_000;
/**
 * ms. Received bytes of an unfinished upload stay longer: another installation keeps them for a
 * day.
 */
const minSweepAgeOfParts = 26 * 3_600_000;
const minSweepAgeOf = (key: string) => (isUploadProgress(key) ? minSweepAgeOfParts : minSweepAge);

/** What an object storage needs besides its object store. */
export interface ObjectStorageServices {
  readonly parts: PartSpace;
  readonly lists: FolderListCache;
  /** ms since the epoch. */
  readonly now?: () => number;
}

/**
 * The files of a location in an object store, such as a bucket. Folders are prefixes of keys, and
 * are changed object by object.
 */
export class ObjectStorage implements Storage {
  readonly traits = { create: 'checked', replace: 'checked', folders: 'prefix', openAhead: 16 } as const;
  readonly readRun = null;
  readonly signedAddress: ((path: ItemPath, headers: SignedHeaders, lifetime: number) => Promise<string>) | null;
  readonly #store: ObjectStore;
  readonly #keys: ObjectKeys;
  readonly #folders: ObjectFolders;
  readonly #late: LateRequests;
  readonly #changes: ObjectChanges;
  readonly #parts: PartSpace;
  readonly #pages: ServicePages;
  readonly #limitDeletion = deletionLimit();
  readonly #now: () => number;
  /** When the last check of the location succeeded; ms, monotonic. */
  #lastSuccess = Number.NEGATIVE_INFINITY;

  /** @param prefix of all keys of the location */
  constructor(store: ObjectStore, prefix: string | undefined, { parts, lists, now = Date.now }: ObjectStorageServices) {
    this.#store = store;
    this.#parts = parts;
    this.#pages = new ServicePages({ memory: store.memory, lists });
    this.#now = now;
    this.#keys = new ObjectKeys(prefix);
    this.#folders = new ObjectFolders(store, this.#keys);
    this.#late = new LateRequests(now);
    this.#changes = new ObjectChanges(this.#folders, this.#late);
    const { signAddress } = store;
    this.signedAddress = signAddress && ((path, headers, lifetime) => signAddress(this.#keys.file(path), headers, lifetime));
  }

  async check(): Promise<void> {
    if (this.#store.monotonic() - this.#lastSuccess < checkInterval) return;
    this.#lastSuccess = Number.NEGATIVE_INFINITY;
    await this.#store.hasKeys(this.#keys.folder([]));
    this.#lastSuccess = this.#store.monotonic();
  }

  testSteps(token: string): readonly TestStep[] {
    return objectTestSteps(this.#folders, token);
  }

  stat(path: ItemPath): Promise<Entry | null> {
    return this.#folders.entry(path);
  }

  async pathOnDisk(): Promise<null> {
    return null;
  }

  async folderKey(path: ItemPath): Promise<string> {
    return `${this.#store.identity} ${this.#keys.folder(path)}`;
  }

  async list(path: ItemPath): Promise<AsyncIterable<readonly Entry[]> | null> {
    return (await this.#folders.hasFolder(path)) ? this.#folders.entries(path) : null;
  }

  async page(path: ItemPath, query: ListingQuery): Promise<ListingPage | null> {
    return this.#pages.read(path, query, () => this.list(path));
  }

  async open(path: ItemPath): Promise<OpenFile | null> {
    const name = path.at(-1);
    const key = this.#keys.file(path);
    return name === undefined || this.#store.isKeyTooLong(key) ? null : openObjectFile(this.#store, key, name);
  }

  upload(target: UploadTarget, token: string): Promise<Upload> {
    return this.#pages.watchUpload(startUpload({ folders: this.#folders, parts: this.#parts }, target, token));
  }

  readonly continueUpload = (target: UploadTarget, upload: ClosedUpload): Promise<ContinuedUpload> =>
    this.#pages.watchContinued(continueObjectUpload({ folders: this.#folders, parts: this.#parts }, target, upload));

  createFolder(parent: ItemPath, name: string, context: ChangeContext): Promise<void> {
    return this.#pages.clearAfter(this.#changes.createFolder(parent, name, context));
  }

  rename(parent: ItemPath, from: string, to: string, context: ChangeContext): Promise<void> {
    return this.#pages.clearAfter(this.#changes.rename(parent, from, to, context));
  }

  remove(parent: ItemPath, name: string, context: Omit<ChangeContext, 'pendingTokens'>): Promise<void> {
    return this.#pages.clearAfter(this.#changes.remove(parent, name, context));
  }

  recover(change: PendingFileChange, confirm?: Confirm): Promise<string | null> {
    const { action, parent, name, token } = change;
    const isUpload = action === 'upload';
    return this.#pages.clearAfter(
      isUpload ? recoverUpload(this.#folders, this.#late, { parent, name, token, confirm }) : this.#changes.recover(change, confirm),
    );
  }

  /** Returns false: a replacement is one request with the ETag as its condition, so it fails after another change of the file. */
  async giveUp(): Promise<boolean> {
    return false;
  }

  async clearEvidence(change: PendingFileChange): Promise<void> {
    const { action, parent, name, token, handle } = change;
    if (action !== 'upload') return this.#limitDeletion(() => this.#changes.clear(change));
    if (handle) await abortUpload(this.#folders, [...parent, name], token, handle);
    await clearUpload(this.#folders, token, true);
    await new UploadProgress(this.#folders, token).clear();
  }

  /**
   * Returns the token of the change that an object in the staging area belongs to. A claim is named after the item that it reserves.
   */
  async #tokenOf(key: string): Promise<string> {
    if (key.endsWith('.claim')) return (await this.#store.describe(key))?.token ?? '';
    return key.slice(this.#keys.staging('').length).replace(/(\.\d+-\d+)?\.[a-z]+$/, '');
  }

  async sweep(findTokensInUse: FindTokensInUse, signal?: AbortSignal): Promise<void> {
    const tokenOf = (key: string) => {
      signal?.throwIfAborted();
      return this.#tokenOf(key);
    };
    for await (const { objects } of this.#store.list(this.#keys.staging(''))) {
      signal?.throwIfAborted();
      const evidence = objects.filter(({ key, modified }) => this.#now() - modified > minSweepAgeOf(key)).map(({ key }) => key);
      if (evidence.length === 0) continue;
      const tokens = await mapInBatches(evidence, tokenOf);
      const tokensInUse = new Set(await findTokensInUse(tokens));
      await this.#store.delete(evidence.filter((_, index) => !tokensInUse.has(tokens[index] ?? '')));
    }
  }
}
