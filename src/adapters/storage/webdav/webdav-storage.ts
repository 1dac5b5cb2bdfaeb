import type { FolderListCache } from '#adapters/storage/folder-list-cache.ts';
import { CollectingStorage } from '#adapters/storage/moves/collecting-storage.ts';
import type { PartSpace } from '#adapters/storage/part-space.ts';
import type { UploadSpool } from '#adapters/storage/upload-spool.ts';
import type { ItemPath } from '#core/item-path.ts';
import type { MemoryBudget } from '#core/memory-budget.ts';
import type { WebdavConfiguration } from '#core/records/location-configurations.ts';
import type { Outbound } from '#ports/outbound.ts';
import type { OpenFile, Storage, TestStep } from '#ports/storage.ts';
import { openWebdavFile } from './webdav-file.ts';
import { WebdavItems } from './webdav-items.ts';
import { WebdavServer } from './webdav-server.ts';
import { webdavTestSteps } from './webdav-test-steps.ts';

/** What all WebDAV storages share. */
export interface WebdavServices {
  readonly outbound: Pick<Outbound, 'request'>;
  readonly parts: PartSpace;
  readonly spool: UploadSpool;
  readonly memory: MemoryBudget;
  readonly lists: FolderListCache;
  /** ms, monotonic. */
  readonly monotonic?: () => number;
  /** ms since the epoch. */
  readonly now?: () => number;
}

/** The files of a location at a WebDAV server. */
export class WebdavStorage extends CollectingStorage implements Storage {
  readonly #server: WebdavServer;
  readonly #now: () => number;

  constructor(configuration: WebdavConfiguration, tid: number, services: WebdavServices) {
    const { outbound, parts, spool, memory, lists, monotonic = () => performance.now(), now = Date.now } = services;
    const server = new WebdavServer(configuration, tid, outbound, monotonic);
    super(new WebdavItems(server, now), { parts, spool, tid }, now, { memory: memory.of(tid), lists });
    this.#server = server;
    this.#now = now;
  }

  testSteps(token: string): readonly TestStep[] {
    return webdavTestSteps(this.#server, this.evidence, this.moves, token);
  }

  async folderKey(path: ItemPath): Promise<string> {
    return `webdav ${this.#server.urlOf(path, true).href}`;
  }

  async open(path: ItemPath): Promise<OpenFile | null> {
    return path.length === 0 ? null : openWebdavFile(this.#server, path, this.#now);
  }
}
