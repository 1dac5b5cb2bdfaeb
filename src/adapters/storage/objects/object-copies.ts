import type { Confirm } from '#ports/storage.ts';
import { ItemExists, ItemNotFound, StorageUnavailable } from '#ports/storage-errors.ts';
import type { ETagsByKey } from './decision.ts';
import { mapInBatches } from './map-in-batches.ts';
import type { ObjectFolders } from './object-folders.ts';
import type { ObjectDescription, ObjectVersion, StoredObject } from './object-store.ts';

/** The most objects of one rename or deletion. A rename copies each object with at least one request. */
export const maxObjects = 100_000;

export const versionsOf = (objects: readonly ObjectVersion[]): ETagsByKey => new Map(objects.map(({ key, etag }) => [key, etag]));

/** A rename that copies the objects of an item. */
interface Renaming {
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly token: string;
  /** Passed to `ObjectStore.deleteUnchanged` when copies are deleted. */
  readonly confirm: Confirm | undefined;
}

/** The copies that a rename makes of the objects of an item. */
export class ObjectCopies {
  readonly #folders: ObjectFolders;

  constructor(folders: ObjectFolders) {
    this.#folders = folders;
  }

  /** Returns the key that an object of an item gets when the item is renamed. */
  renamedKey(key: string, from: readonly string[], to: readonly string[]): string {
    const { keys } = this.#folders;
    return keys.file(to) + key.slice(keys.file(from).length);
  }

  /**
   * Copies objects.
   * @returns the copied versions
   * @throws ItemExists if another program has written an object to a key of a copy; ItemNotFound if an object is gone; or as
   *   `ObjectStore.copy`
   */
  async copy(objects: readonly StoredObject[], from: readonly string[], to: readonly string[], token: string): Promise<ETagsByKey> {
    const { store } = this.#folders;
    const versions = await mapInBatches(objects, async ({ key }) => {
      const [source, target] = [await store.describe(key), this.renamedKey(key, from, to)];
      if (!source) throw new ItemNotFound('the item was changed meanwhile');
      if (await store.describe(target)) throw new ItemExists('the name is taken'); // for services that ignore the condition
      await store.copy(source, target, { token, overwrites: false });
      return { key, etag: source.etag };
    });
    return versionsOf(versions);
  }

  /** Runs a step of a rename. If the step fails, deletes the copies. After StorageUnavailable, leaves them to recovery. */
  async runOrDelete<T>(renaming: Renaming, step: () => Promise<T>): Promise<T> {
    try {
      return await step();
    } catch (cause) {
      if (!(cause instanceof StorageUnavailable)) await this.delete(renaming);
      throw cause;
    }
  }

  /** Yields the objects of an item that the change with this token has written, in pages. @throws StorageUnavailable */
  async *pages(path: readonly string[], token: string): AsyncGenerator<readonly ObjectDescription[]> {
    let count = 0;
    for await (const page of this.#folders.objectPages(path)) {
      const objects = await mapInBatches(page, ({ key }) => this.#folders.store.describe(key));
      const copies = objects.flatMap((object) => (object?.token === token ? [object] : []));
      count += copies.length;
      if (count > maxObjects) throw new StorageUnavailable('the service lists more copies than were made');
      yield copies;
    }
  }

  /**
   * Deletes only the copies whose originals still exist: no content is lost, even if the change was completed.
   * @throws the error of `confirm`
   */
  async delete({ from, to, token, confirm }: Renaming): Promise<void> {
    const { store } = this.#folders;
    for await (const copies of this.pages(to, token)) {
      const hasOriginal = await mapInBatches(copies, async ({ key }) => (await store.describe(this.renamedKey(key, to, from))) !== null);
      await store.deleteUnchanged(
        copies.filter((_, index) => hasOriginal[index]),
        confirm,
      );
    }
  }
}
