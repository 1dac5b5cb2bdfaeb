import type { FolderListCache } from '#adapters/storage/folder-list-cache.ts';
import { ItemStorage } from '#adapters/storage/moves/item-storage.ts';
import type { ItemPath } from '#core/item-path.ts';
import type { MemoryBudget } from '#core/memory-budget.ts';
import type { SftpConfiguration } from '#core/records/location-configurations.ts';
import type { ClosedUpload, ContinuedUpload, OpenFile, Storage, TestStep, Upload, UploadTarget } from '#ports/storage.ts';
import type { SftpServices } from './connect-sftp.ts';
import { SftpConnections } from './sftp-connections.ts';
import { openSftpFile } from './sftp-file.ts';
import { SftpItems } from './sftp-items.ts';
import { sftpTestSteps } from './sftp-test-steps.ts';
import { continueSftpUpload, startSftpUpload } from './sftp-upload.ts';

export interface SftpStorageServices extends SftpServices {
  readonly memory: MemoryBudget;
  readonly lists: FolderListCache;
  /** Returns a monotonic time in ms. */
  readonly monotonic?: () => number;
  /** Returns the time in ms since the epoch. */
  readonly now?: () => number;
}

const defaultPort = 22;

/** The files of a location at an SFTP server. */
export class SftpStorage extends ItemStorage implements Storage {
  readonly #connections: SftpConnections;
  readonly #items: SftpItems;
  readonly #server: string;
  readonly #now: () => number;

  constructor(configuration: SftpConfiguration, tid: number, services: SftpStorageServices) {
    const { memory, lists, monotonic = () => performance.now(), now = Date.now } = services;
    const { host, port = defaultPort, root } = configuration;
    const connections = new SftpConnections(configuration, tid, services, monotonic);
    const tenantMemory = memory.of(tid);
    const items = new SftpItems(connections, root, now, tenantMemory);
    super(items, now, { memory: tenantMemory, lists });
    this.#connections = connections;
    this.#items = items;
    this.#server = `${host.toLowerCase()}:${port}`;
    this.#now = now;
  }

  testSteps(token: string): readonly TestStep[] {
    return sftpTestSteps(this.#items, this.evidence, this.moves, token);
  }

  async folderKey(path: ItemPath): Promise<string> {
    return `sftp ${this.#server}${this.#items.pathOf(path)}`;
  }

  async open(path: ItemPath): Promise<OpenFile | null> {
    return path.length === 0 ? null : openSftpFile(this.#connections, this.#items, path, this.#now);
  }

  upload(target: UploadTarget, token: string): Promise<Upload> {
    return this.pages.watchUpload(startSftpUpload(this.#uploadPlace, target, token));
  }

  readonly continueUpload = (target: UploadTarget, upload: ClosedUpload): Promise<ContinuedUpload> =>
    this.pages.watchContinued(continueSftpUpload(this.#uploadPlace, target, upload));

  get #uploadPlace() {
    return { evidence: this.evidence, moves: this.moves, connections: this.#connections, items: this.#items };
  }
}
