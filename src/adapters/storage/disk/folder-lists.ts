import type { ItemPath } from '#core/item-path.ts';
import type { Entry } from '#core/listing.ts';
import type { StorageClient } from '#ports/storage.ts';
import type { FolderThreads } from './folder-threads.ts';

export class FolderLists {
  readonly #lists: FolderThreads['lists'];
  #lastNumber = 0;

  constructor({ lists }: Pick<FolderThreads, 'lists'>) {
    this.#lists = lists;
  }

  /** Returns the entries of a folder in batches. Clients take turns after each batch. @throws ItemNotFound if there is no folder */
  async list(path: ItemPath, client: StorageClient): Promise<AsyncIterable<readonly Entry[]>> {
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    const release = this.#lists.hold(); // only the thread that has opened the folder can read and close it
    const close = () => {
      const releaseAfterClose = this.#lists.hold();
      const closing = this.#lists.run('closeList', [number], { always: true });
      void closing.catch(() => {}).finally(releaseAfterClose);
    };
    let isOpen = false;
    try {
      const first = await this.#lists.run('openList', [path, number], { client, onLateResult: (late) => late.isOpen && close() });
      isOpen = first.isOpen;
      if (!isOpen) return onlyBatch(first.entries);
      return this.#batches(first.entries, number, client, () => {
        close();
        release();
      });
    } finally {
      if (!isOpen) release();
    }
  }

  async *#batches(first: readonly Entry[], number: number, client: StorageClient, close: () => void): AsyncIterable<readonly Entry[]> {
    try {
      for (let entries = first; entries.length > 0; ) {
        yield entries;
        entries = await this.#lists.run('nextBatch', [number], { client, onLateResult: () => {} });
      }
    } finally {
      close();
    }
  }
}

async function* onlyBatch(entries: readonly Entry[]): AsyncIterable<readonly Entry[]> {
  if (entries.length > 0) yield entries;
}
