import { type PageServices, ServicePages } from '#adapters/storage/service-pages.ts';
import type { ItemPath } from '#core/item-path.ts';
import type { Entry, ListingPage, ListingQuery } from '#core/listing.ts';
import type { ChangeContext, FindTokensInUse, PendingFileChange, Storage } from '#ports/storage.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { ChangeEvidence } from './change-evidence.ts';
import { ItemChanges } from './item-changes.ts';
import { ItemMoves } from './item-moves.ts';
import type { ItemServer } from './item-server.ts';

/** ms. Younger evidence stays: it may belong to another installation that uses the same folder. */
const minSweepAge = 3_600_000;

/** The common part of all storages whose servers move items: everything except the bytes of files, the test, and the keys of folders. */
export abstract class ItemStorage implements Omit<Storage, 'testSteps' | 'folderKey' | 'open' | 'upload' | 'continueUpload'> {
  readonly traits = { create: 'checked', replace: 'checked', folders: 'real', openAhead: 16 } as const;
  readonly signedAddress = null;
  readonly readRun = null;
  protected readonly evidence: ChangeEvidence;
  protected readonly moves: ItemMoves;
  protected readonly pages: ServicePages;
  readonly #changes: ItemChanges;

  /** @param now ms since the epoch */
  constructor(server: ItemServer, now: () => number, pageServices: PageServices) {
    this.evidence = new ChangeEvidence(server, now);
    this.moves = new ItemMoves(this.evidence);
    this.#changes = new ItemChanges(this.evidence, this.moves);
    this.pages = new ServicePages(pageServices);
  }

  async check(): Promise<void> {
    if (!(await this.evidence.find([]))?.folder) throw new StorageUnavailable('there is no such folder');
  }

  stat(path: ItemPath): Promise<Entry | null> {
    return this.evidence.find(path);
  }

  async pathOnDisk(): Promise<null> {
    return null;
  }

  async list(path: ItemPath): Promise<AsyncIterable<readonly Entry[]> | null> {
    return (await this.evidence.find(path))?.folder ? this.evidence.list(path) : null;
  }

  async page(path: ItemPath, query: ListingQuery): Promise<ListingPage | null> {
    return this.pages.read(path, query, () => this.list(path));
  }

  createFolder(parent: ItemPath, name: string, context: ChangeContext): Promise<void> {
    return this.pages.clearAfter(this.#changes.createFolder(parent, name, context));
  }

  rename(parent: ItemPath, from: string, to: string, context: ChangeContext): Promise<void> {
    return this.pages.clearAfter(this.#changes.rename(parent, from, to, context));
  }

  remove(parent: ItemPath, name: string, context: Omit<ChangeContext, 'pendingTokens'>): Promise<void> {
    return this.pages.clearAfter(this.#changes.remove(parent, name, context));
  }

  async recover(change: PendingFileChange): Promise<string | null> {
    await this.#checkMounted();
    return this.pages.clearAfter(this.#changes.recover(change));
  }

  giveUp({ token }: PendingFileChange): Promise<boolean> {
    return this.evidence.giveUpReplacement(token);
  }

  async clearEvidence({ token }: PendingFileChange): Promise<void> {
    await this.evidence.clear(token);
  }

  async sweep(findTokensInUse: FindTokensInUse, signal?: AbortSignal): Promise<void> {
    await this.evidence.sweep(findTokensInUse, minSweepAge, signal);
  }

  /**
   * Checks that the folder is not an empty mount point, which would hide the evidence.
   * @throws StorageUnavailable
   */
  async #checkMounted(): Promise<void> {
    await this.check();
    for await (const entries of this.evidence.list([])) if (entries.length > 0) return;
    if (!(await this.evidence.find(this.evidence.folder)))
      throw new StorageUnavailable('the folder is empty: a disk of the server may be missing');
  }
}
