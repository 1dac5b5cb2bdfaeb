import type { MemoryBudget } from '#adapters/storage/memory-budget.ts';
import { ChangeEvidence } from '#adapters/storage/moves/change-evidence.ts';
import { ItemChanges } from '#adapters/storage/moves/item-changes.ts';
import { ItemMoves } from '#adapters/storage/moves/item-moves.ts';
import type { PartSpace } from '#adapters/storage/part-space.ts';
import { selectPage } from '#adapters/storage/select-page.ts';
import type { UploadSpool } from '#adapters/storage/upload-spool.ts';
import type { ItemPath } from '#core/item-path.ts';
import type { Entry, ListingPage, ListingQuery } from '#core/listing.ts';
import type { WebdavConfiguration } from '#core/records/location-configurations.ts';
import type { Outbound } from '#ports/outbound.ts';
import {
  type ChangeContext,
  type ClosedUpload,
  type ContinuedUpload,
  type OpenFile,
  type PendingFileChange,
  type Storage,
  StorageUnavailable,
  type TestStep,
  type Upload,
  type UploadTarget,
} from '#ports/storage.ts';
import { openWebdavFile } from './webdav-file.ts';
import { WebdavItems } from './webdav-items.ts';
import { WebdavServer } from './webdav-server.ts';
import { webdavTestSteps } from './webdav-test-steps.ts';
import { continueWebdavUpload, startWebdavUpload } from './webdav-upload.ts';

/** ms. Younger evidence stays: it may belong to another installation that uses the same folder. */
const minSweepAge = 3_600_000;

/** What all WebDAV storages share. */
export interface WebdavServices {
  readonly outbound: Pick<Outbound, 'request'>;
  readonly parts: PartSpace;
  readonly spool: UploadSpool;
  readonly memory: MemoryBudget;
  /** ms, monotonic. */
  readonly monotonic?: () => number;
  /** ms since the epoch. */
  readonly now?: () => number;
}

/** The files of a location at a WebDAV server. */
export class WebdavStorage implements Storage {
  readonly traits = { create: 'checked', replace: 'checked', folders: 'real', openAhead: 16 } as const;
  readonly signedAddress = null;
  readonly #server: WebdavServer;
  readonly #evidence: ChangeEvidence;
  readonly #moves: ItemMoves;
  readonly #changes: ItemChanges;
  readonly #services: WebdavServices;
  readonly #tid: number;
  readonly #now: () => number;

  constructor(configuration: WebdavConfiguration, tid: number, services: WebdavServices) {
    const { outbound, monotonic = () => performance.now(), now = Date.now } = services;
    this.#services = services;
    this.#tid = tid;
    this.#now = now;
    this.#server = new WebdavServer(configuration, tid, outbound, monotonic);
    this.#evidence = new ChangeEvidence(new WebdavItems(this.#server, now), now);
    this.#moves = new ItemMoves(this.#evidence);
    this.#changes = new ItemChanges(this.#evidence, this.#moves);
  }

  async check(): Promise<void> {
    if (!(await this.#evidence.find([]))?.folder) throw new StorageUnavailable('there is no such folder');
  }

  testSteps(token: string): readonly TestStep[] {
    return webdavTestSteps(this.#server, this.#evidence, this.#moves, token);
  }

  stat(path: ItemPath): Promise<Entry | null> {
    return this.#evidence.find(path);
  }

  async pathOnDisk(): Promise<null> {
    return null;
  }

  async folderKey(path: ItemPath): Promise<string> {
    return `webdav ${this.#server.urlOf(path, true).href}`;
  }

  async list(path: ItemPath): Promise<AsyncIterable<readonly Entry[]> | null> {
    return (await this.#evidence.find(path))?.folder ? this.#evidence.list(path) : null;
  }

  async page(path: ItemPath, query: ListingQuery): Promise<ListingPage | null> {
    const batches = await this.list(path);
    return batches && selectPage(batches, query, this.#services.memory.of(this.#tid));
  }

  async open(path: ItemPath): Promise<OpenFile | null> {
    return path.length === 0 ? null : openWebdavFile(this.#server, path, this.#now);
  }

  upload(target: UploadTarget, token: string): Promise<Upload> {
    return startWebdavUpload(this.#uploadPlace, target, token);
  }

  readonly continueUpload = (target: UploadTarget, upload: ClosedUpload): Promise<ContinuedUpload> =>
    continueWebdavUpload(this.#uploadPlace, target, upload);

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
    await this.#checkMounted();
    return this.#changes.recover(change);
  }

  /**
   * Checks that the folder is not an empty mount point, which would hide the evidence.
   * @throws StorageUnavailable
   */
  async #checkMounted(): Promise<void> {
    await this.check();
    for await (const _ of this.#evidence.list([])) return;
    if (!(await this.#evidence.find(this.#evidence.folder)))
      throw new StorageUnavailable('the folder is empty: a disk of the server may be missing');
  }

  async clearEvidence({ token }: PendingFileChange): Promise<void> {
    await this.#services.spool.delete(this.#tid, token);
    await this.#evidence.clear(token);
  }

  get #uploadPlace() {
    const { parts, spool } = this.#services;
    return { server: this.#server, evidence: this.#evidence, moves: this.#moves, parts, spool, tid: this.#tid };
  }

  async sweep(pendingTokens: () => Promise<readonly string[]>): Promise<void> {
    await this.#evidence.sweep(pendingTokens, minSweepAge);
  }
}
