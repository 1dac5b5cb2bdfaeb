import { copyText } from '#adapters/storage/copy-text.ts';
import { type ItemPath, nameError } from '#core/item-path.ts';
import type { DatedEntry, Entry } from '#core/listing.ts';
import { PathTooLong } from '#ports/storage-errors.ts';
import type { ObjectDescription, ObjectStore, StoredObject } from './object-store.ts';

/** Folder of the staging area, within the prefix of the location: evidence of changes, progress of uploads, and uploads to drop boxes. */
const stagingFolder = '.postern/';

/**
 * Returns the keys of the files and folders of a location. A folder is a common prefix of keys, or a key that ends in `/`.
 */
export class ObjectKeys {
  readonly #prefix: string;

  /** @param prefix beginning of all keys of the location; with or without slashes at its ends */
  constructor(prefix = '') {
    const inner = prefix.replace(/^\/+|\/+$/g, '');
    this.#prefix = inner === '' ? '' : `${inner}/`;
  }

  file(path: readonly string[]): string {
    return this.#prefix + path.join('/');
  }

  /** Returns the beginning of the keys in a folder. It is also the key of an empty folder. */
  folder(path: readonly string[]): string {
    return path.length === 0 ? this.#prefix : `${this.file(path)}/`;
  }

  /** Returns the key of an object in the staging area. */
  staging(name: string): string {
    return `${this.#prefix}${stagingFolder}${name}`;
  }
}

const folderEntry = (name: string): Entry => ({ name, folder: true, size: 0, modified: null, etag: 'W/"folder"' });
export const fileEntry = (name: string, { size, modified, etag, mayNeedRestore }: Omit<StoredObject, 'key'>): DatedEntry => ({
  name,
  folder: false,
  size,
  modified,
  etag,
  ...(mayNeedRestore ? { mayNeedRestore } : {}),
});

/** Reads the files and folders of a location. */
export class ObjectFolders {
  readonly store: ObjectStore;
  readonly keys: ObjectKeys;

  constructor(store: ObjectStore, keys: ObjectKeys) {
    this.store = store;
    this.keys = keys;
  }

  /** Returns the object of a file, or null. */
  async file(path: readonly string[]): Promise<ObjectDescription | null> {
    const key = this.keys.file(path);
    return path.length === 0 || this.store.isKeyTooLong(key) ? null : this.store.describe(key);
  }

  /** Returns whether there is a folder. The root of the location always exists. */
  async hasFolder(path: readonly string[]): Promise<boolean> {
    const key = this.keys.folder(path);
    return path.length === 0 || (!this.store.isKeyTooLong(key) && this.store.hasKeys(key));
  }

  /** Returns the entry at a path, or null. If a file and a folder have the same name, returns the file. */
  async entry(path: readonly string[]): Promise<Entry | null> {
    const name = path.at(-1) ?? '';
    const file = await this.file(path);
    if (file) return fileEntry(name, file);
    return (await this.hasFolder(path)) ? folderEntry(name) : null;
  }

  /** Yields the entries of a folder. Omits keys that are no valid paths, such as `a//b`. */
  async *entries(path: ItemPath): AsyncGenerator<readonly Entry[]> {
    const prefix = this.keys.folder(path);
    for await (const { objects, prefixes } of this.store.list(prefix, '/')) {
      const files = objects.map((object) => fileEntry(copyText(object.key.slice(prefix.length)), object));
      const folders = prefixes.map((key) => folderEntry(copyText(key.slice(prefix.length, -1))));
      yield [...files, ...folders].filter(({ name }) => nameError(name) === null);
    }
  }

  /** Checks that the service can store keys, before something is created under them. @throws PathTooLong */
  checkLengths(keys: readonly string[]): void {
    if (keys.some((key) => this.store.isKeyTooLong(key))) throw new PathTooLong('the service cannot store a key of this length');
  }

  /** Yields all objects of a file, or of a folder and everything in it, in pages. */
  async *objectPages(path: readonly string[]): AsyncGenerator<readonly StoredObject[]> {
    const file = await this.file(path);
    if (file) yield [file];
    else for await (const { objects } of this.store.list(this.keys.folder(path))) yield objects;
  }
}
