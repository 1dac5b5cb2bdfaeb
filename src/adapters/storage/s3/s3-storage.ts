import type { MemoryBudget } from '#adapters/storage/memory-budget.ts';
import type { PartSpace } from '#adapters/storage/part-space.ts';
import type { ItemPath } from '#core/item-path.ts';
import { type Entry, type ListingPage, type ListingQuery, PageSelection } from '#core/listing.ts';
import type { S3Configuration } from '#core/records/location-configurations.ts';
import type { Outbound } from '#ports/outbound.ts';
import {
  type ChangeContext,
  type OpenFile,
  type PendingFileChange,
  type SignedHeaders,
  type Storage,
  StorageUnavailable,
  type TestStep,
  type Upload,
  type UploadTarget,
} from '#ports/storage.ts';
import type { AccessKey, MachineCredentials } from './machine-credentials.ts';
import { S3Bucket } from './s3-bucket.ts';
import { S3Changes } from './s3-changes.ts';
import { S3Conditions } from './s3-conditions.ts';
import { openS3File } from './s3-file.ts';
import { S3Folders, S3Keys } from './s3-folders.ts';
import { hasKeys, isKeyTooLong, listKeys } from './s3-list.ts';
import { deleteObjects, describeObject, mapInBatches } from './s3-objects.ts';
import { s3TestSteps } from './s3-test-steps.ts';
import { abortUpload, clearUpload, recoverUpload, startS3Upload } from './s3-upload.ts';

/** ms. A job checks each location twice a minute, and services charge for each request. A location that failed is checked each time. */
const checkInterval = 120_000;
/** ms. Younger objects of the staging area stay: they may belong to another installation that uses the same bucket. */
const minSweepAge = 3_600_000;
const maxPageMemory = 32 << 20; // bytes for the entries before a page of a large folder

/** What all S3 storages share. */
export interface S3Services {
  readonly outbound: Pick<Outbound, 'request'>;
  readonly parts: PartSpace;
  readonly memory: MemoryBudget;
  readonly machineCredentials: Pick<MachineCredentials, 'get'>;
  /** ms, monotonic. */
  readonly monotonic?: () => number;
  /** ms since the epoch. */
  readonly now?: () => number;
}

/** Returns a function that returns the access key of a location. @throws StorageUnavailable if the key was lost with the key that sealed it */
function accessKeyOf(configuration: S3Configuration, machine: Pick<MachineCredentials, 'get'>): () => Promise<AccessKey> {
  const { useMachineCredentials = false, accessKeyId, secretAccessKey, sessionToken } = configuration;
  if (useMachineCredentials) return () => machine.get();
  return async () => {
    if (accessKeyId === undefined || secretAccessKey === undefined) throw new StorageUnavailable('the configuration has no access key');
    return { accessKeyId, secretAccessKey, sessionToken };
  };
}

/** The files of a location in a bucket of an S3 service. Folders are beginnings of keys, and are changed object by object. */
export class S3Storage implements Storage {
  readonly traits = { create: 'checked', replace: 'checked', folders: 'prefix', openAhead: 16 } as const;
  readonly signedAddress = (path: ItemPath, headers: SignedHeaders, lifetime: number): Promise<string> =>
    this.#bucket.signAddress(this.#keys.file(path), headers, lifetime);
  readonly #bucket: S3Bucket;
  readonly #keys: S3Keys;
  readonly #folders: S3Folders;
  readonly #changes: S3Changes;
  readonly #conditions: S3Conditions;

  readonly #parts: PartSpace;
  readonly #now: () => number;
  #workedAt = Number.NEGATIVE_INFINITY;

  constructor(
    configuration: S3Configuration,
    tid: number,
    { outbound, parts, memory, machineCredentials, monotonic = () => performance.now(), now = Date.now }: S3Services,
  ) {
    this.#now = now;
    this.#parts = parts;
    this.#bucket = new S3Bucket(configuration, tid, accessKeyOf(configuration, machineCredentials), outbound, memory.of(tid), monotonic);
    this.#keys = new S3Keys(configuration.prefix);
    this.#folders = new S3Folders(this.#bucket, this.#keys);
    this.#changes = new S3Changes(this.#folders);
    this.#conditions = new S3Conditions(this.#bucket, this.#keys);
  }

  async check(): Promise<void> {
    if (this.#bucket.monotonic() - this.#workedAt < checkInterval) return;
    this.#workedAt = Number.NEGATIVE_INFINITY;
    await hasKeys(this.#bucket, this.#keys.folder([]));
    this.#workedAt = this.#bucket.monotonic();
  }

  testSteps(token: string): readonly TestStep[] {
    return s3TestSteps(this.#folders, token);
  }

  stat(path: ItemPath): Promise<Entry | null> {
    return this.#folders.entry(path);
  }

  async pathOnDisk(): Promise<null> {
    return null;
  }

  async folderKey(path: ItemPath): Promise<string> {
    return `s3 ${this.#bucket.identity} ${this.#keys.folder(path)}`;
  }

  async list(path: ItemPath): Promise<AsyncIterable<readonly Entry[]> | null> {
    return (await this.#folders.hasFolder(path)) ? this.#folders.entries(path) : null;
  }

  async page(path: ItemPath, query: ListingQuery): Promise<ListingPage | null> {
    if (!(await this.#folders.hasFolder(path))) return null;
    const selection = new PageSelection<Entry>(query, maxPageMemory);
    using memory = this.#bucket.memory.begin();
    for await (const batch of this.#folders.entries(path)) {
      selection.add(batch);
      memory.set(selection.bytes);
    }
    return selection.page();
  }

  async open(path: ItemPath): Promise<OpenFile | null> {
    const name = path.at(-1);
    const key = this.#keys.file(path);
    return name === undefined || isKeyTooLong(key) ? null : openS3File(this.#bucket, key, name);
  }

  upload(target: UploadTarget, token: string): Promise<Upload> {
    return startS3Upload({ folders: this.#folders, conditions: this.#conditions, parts: this.#parts }, target, token);
  }

  createFolder(parent: ItemPath, name: string, context: ChangeContext): Promise<void> {
    return this.#changes.createFolder(parent, name, context);
  }

  rename(parent: ItemPath, from: string, to: string, context: ChangeContext): Promise<void> {
    return this.#changes.rename(parent, from, to, context);
  }

  remove(parent: ItemPath, name: string, context: Omit<ChangeContext, 'pendingTokens'>): Promise<void> {
    return this.#changes.remove(parent, name, context);
  }

  async recover(change: PendingFileChange): Promise<string | null> {
    const { action, parent, name, token } = change;
    return action === 'upload' ? recoverUpload(this.#folders, parent, name, token) : this.#changes.recover(change);
  }

  async clearEvidence(change: PendingFileChange): Promise<void> {
    const { action, parent, name, token, handle } = change;
    if (action !== 'upload') return this.#changes.clear(change);
    if (handle) await abortUpload(this.#folders, [...parent, name], token, handle);
    await clearUpload(this.#folders, token, true);
  }

  /** Returns the token of the change that an object in the staging area belongs to. A claim is named after the item, not after the change. */
  async #tokenOf(key: string): Promise<string> {
    if (key.endsWith('.claim')) return (await describeObject(this.#bucket, key))?.token ?? '';
    return key.slice(this.#keys.staging('').length).replace(/\.[a-z]+$/, '');
  }

  async sweep(pendingTokens: () => Promise<readonly string[]>): Promise<void> {
    for await (const { objects } of listKeys(this.#bucket, this.#keys.staging(''))) {
      const evidence = objects.filter(({ modified }) => this.#now() - modified > minSweepAge).map(({ key }) => key);
      if (evidence.length === 0) continue;
      const tokens = await mapInBatches(evidence, (key) => this.#tokenOf(key));
      const pending = new Set(await pendingTokens());
      await deleteObjects(
        this.#bucket,
        evidence.filter((_, index) => !pending.has(tokens[index] ?? '')),
      );
    }
  }
}
