import { type ItemPath, numberedName } from '#core/item-path.ts';
import type { DatedEntry, Entry, ListingPage, ListingQuery } from '#core/listing.ts';
import { selectListingPage } from '#core/page-selection.ts';
import type {
  ChangeContext,
  FindTokensInUse,
  LockName,
  OpenFile,
  PendingFileChange,
  Storage,
  TestStep,
  Upload,
  UploadTarget,
} from '#ports/storage.ts';
import { ItemChanged, ItemExists, ItemNotFound } from '#ports/storage-errors.ts';

/** A value under a key, as in an object store. */
interface StoredObject {
  readonly bytes: Buffer;
  readonly modified: number;
  /** Token of the change that wrote it. */
  readonly token: string;
}

/** An upload. Visitors do not see its file until it is placed. */
interface StagedUpload {
  readonly chunks: Buffer[];
  /** Name of the file; null: not placed yet. */
  placedAs: string | null;
}

const batchSize = 7; // entries; small, so that the listings of many tests have several batches
const pieceSize = 1000; // bytes
const maxNames = 20;

/** Lets other requests run, as a call to a remote service does. */
const roundTrip = () => new Promise(setImmediate);
const keyOf = (path: readonly string[]) => path.join('/');
/** Returns the prefix of all keys in a folder. The folder exists if any key has this prefix. */
const prefixOf = (path: readonly string[]) => (path.length === 0 ? '' : `${keyOf(path)}/`);
const weakEtagOf = ({ bytes, modified }: StoredObject) => `W/"${bytes.length}-${Math.floor(modified / 1000)}"`;

/**
 * A fake storage with the weakest guarantees that features must cope with: it checks first and makes the change
 * afterwards, so that two simultaneous requests may both succeed. A folder is only a prefix, and a rename copies and deletes. Its ETags are
 * weak, and it returns entries in no useful order.
 */
export class MinimalStorage implements Storage {
  readonly traits = { create: 'checked', replace: 'checked', folders: 'prefix', openAhead: 3 } as const;
  readonly continueUpload = null;
  readonly #objects = new Map<string, StoredObject>();
  readonly #stagedUploads = new Map<string, StagedUpload>(); // by token
  /** Tokens of renames and removals that have taken place. */
  readonly #finishedTokens = new Set<string>();

  async check(): Promise<void> {}
  testSteps(): readonly TestStep[] {
    return [{ step: 'connect', run: () => this.check() }];
  }
  readonly signedAddress = null;
  readonly readRun = null;
  async pathOnDisk(): Promise<null> {
    return null;
  }
  async folderKey(path: ItemPath): Promise<string> {
    return `minimal ${keyOf(path)}`;
  }

  async stat(path: ItemPath): Promise<Entry | null> {
    await roundTrip();
    return this.#entryOf(path);
  }

  async list(path: ItemPath): Promise<AsyncIterable<readonly Entry[]> | null> {
    await roundTrip();
    return this.#isFolder(path) ? this.#batches(path) : null;
  }

  async page(path: ItemPath, query: ListingQuery): Promise<ListingPage | null> {
    await roundTrip();
    return this.#isFolder(path) ? selectListingPage(this.#entriesOf(path), query) : null;
  }

  async open(path: ItemPath): Promise<OpenFile | null> {
    await roundTrip();
    const [entry, object] = [this.#entryOf(path), this.#objects.get(keyOf(path))];
    return entry && object ? this.#openFile(keyOf(path), entry, object) : null;
  }

  async upload(target: UploadTarget, token: string): Promise<Upload> {
    await this.#checkParent(target.parent);
    const stagedUpload: StagedUpload = { chunks: [], placedAs: null };
    this.#stagedUploads.set(token, stagedUpload);
    return {
      handle: `upload ${token}`,
      write: async (chunk) => void stagedUpload.chunks.push(Buffer.from(chunk)),
      sync: async () => void (await roundTrip()),
      place: async (confirm, lockName = (_, step) => step()) => {
        await confirm?.();
        stagedUpload.placedAs = await this.#place(target, Buffer.concat(stagedUpload.chunks), token, lockName);
        return stagedUpload.placedAs;
      },
      discard: async () => void this.#stagedUploads.delete(token),
      closeForRecovery: async () => {},
    };
  }

  async createFolder(parent: ItemPath, name: string, { token, confirm }: ChangeContext): Promise<void> {
    await this.#checkFree(parent, name);
    await confirm?.();
    this.#put(prefixOf([...parent, name]), Buffer.alloc(0), token);
  }

  async rename(parent: ItemPath, from: string, to: string, { token, confirm }: ChangeContext): Promise<void> {
    await this.#checkParent(parent);
    const keys = this.#keysOf([...parent, from]);
    if (keys.length === 0) throw new ItemNotFound('there is no such item');
    await this.#checkFree(parent, to);
    await confirm?.();
    const [old, renamed] = [keyOf([...parent, from]), keyOf([...parent, to])];
    for (const key of keys) this.#put(renamed + key.slice(old.length), this.#objects.get(key)?.bytes ?? Buffer.alloc(0), token);
    await roundTrip();
    if (keys.map((key) => this.#objects.delete(key)).every(Boolean)) return void this.#finishedTokens.add(token);
    for (const key of keys) this.#objects.delete(renamed + key.slice(old.length)); // another request has renamed or removed the item
    throw new ItemNotFound('there is no such item any more');
  }

  async remove(parent: ItemPath, name: string, { token, confirm }: Omit<ChangeContext, 'pendingTokens'>): Promise<void> {
    await this.#checkParent(parent);
    const keys = this.#keysOf([...parent, name]);
    if (keys.length === 0) throw new ItemNotFound('there is no such item');
    await confirm?.();
    for (const key of keys) this.#objects.delete(key);
    this.#finishedTokens.add(token);
  }

  async giveUp(): Promise<boolean> {
    return false;
  }

  async recover({ action, parent, name, newName, token }: PendingFileChange): Promise<string | null> {
    await roundTrip();
    if (action === 'upload') return this.#stagedUploads.get(token)?.placedAs ?? null;
    if (action === 'createFolder') return this.#objects.get(prefixOf([...parent, name]))?.token === token ? name : null;
    if (!this.#finishedTokens.has(token)) return null;
    return action === 'rename' ? newName : name;
  }

  async clearEvidence({ token }: PendingFileChange): Promise<void> {
    this.#stagedUploads.delete(token);
    this.#finishedTokens.delete(token);
  }

  async sweep(findTokensInUse: FindTokensInUse): Promise<void> {
    const tokens = [...this.#stagedUploads.keys()];
    const tokensInUse = await findTokensInUse(tokens);
    for (const token of tokens) if (!tokensInUse.includes(token)) this.#stagedUploads.delete(token);
  }

  #put(key: string, bytes: Buffer, token: string): void {
    this.#objects.set(key, { bytes, modified: Date.now(), token });
  }

  #isFolder(path: readonly string[]): boolean {
    return path.length === 0 || this.#objects.keys().some((key) => key.startsWith(prefixOf(path)));
  }

  #entryOf(path: readonly string[]): DatedEntry | null {
    const [name, object] = [path.at(-1) ?? '', this.#objects.get(keyOf(path))];
    if (object) return { name, folder: false, size: object.bytes.length, modified: object.modified, etag: weakEtagOf(object) };
    return this.#isFolder(path) ? { name, folder: true, size: 0, modified: 0, etag: 'W/"folder"' } : null;
  }

  /** Returns the keys of a file, or of a folder and everything in it. */
  #keysOf(path: readonly string[]): string[] {
    return [...this.#objects.keys()].filter((key) => key === keyOf(path) || key.startsWith(prefixOf(path)));
  }

  #entriesOf(path: readonly string[]): Entry[] {
    const prefix = prefixOf(path);
    const names = new Set(
      [...this.#objects.keys()].filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length).split('/')[0] ?? ''),
    );
    names.delete('');
    return [...names].reverse().flatMap((name) => this.#entryOf([...path, name]) ?? []);
  }

  async *#batches(path: readonly string[]): AsyncIterable<readonly Entry[]> {
    const entries = this.#entriesOf(path);
    for (let start = 0; start < entries.length; start += batchSize) {
      await roundTrip();
      yield entries.slice(start, start + batchSize);
    }
  }

  #openFile(key: string, entry: DatedEntry, object: StoredObject): OpenFile {
    const isSame = () => this.#objects.get(key) === object;
    return {
      entry,
      async *read({ start, end }, signal) {
        for (let position = start; position <= end; position += pieceSize) {
          await roundTrip();
          signal?.throwIfAborted();
          if (!isSame()) throw new ItemChanged('another object has this key now');
          yield object.bytes.subarray(position, Math.min(position + pieceSize, end + 1));
        }
      },
      close: async () => {},
    };
  }

  async #checkParent(parent: readonly string[]): Promise<void> {
    await roundTrip();
    if (!this.#isFolder(parent)) throw new ItemNotFound('there is no such folder');
  }

  async #checkFree(parent: readonly string[], name: string): Promise<void> {
    await this.#checkParent(parent);
    if (this.#entryOf([...parent, name])) throw new ItemExists('the name is taken');
    await roundTrip(); // so that another request may run between the check and the change
  }

  async #place(target: UploadTarget, bytes: Buffer, token: string, lockName: LockName): Promise<string> {
    await this.#checkParent(target.parent);
    if (target.ifTaken !== 'number') return this.#placeAs(target.name, target, bytes, token);
    for (let number = 1; number <= maxNames; number += 1) {
      const candidate = number === 1 ? target.name : numberedName(target.name, number);
      if (await lockName(candidate, () => this.#placeIfFree(candidate, target, bytes, token))) return candidate;
    }
    throw new ItemExists('all names are taken');
  }

  async #placeIfFree(name: string, target: UploadTarget, bytes: Buffer, token: string): Promise<boolean> {
    if (this.#entryOf([...target.parent, name])) return false;
    await this.#placeAs(name, target, bytes, token);
    return true;
  }

  async #placeAs(name: string, { parent, ifTaken }: UploadTarget, bytes: Buffer, token: string): Promise<string> {
    const existing = this.#objects.get(keyOf([...parent, name]));
    if (typeof ifTaken === 'object' && (!existing || weakEtagOf(existing) !== ifTaken.replaces))
      throw new ItemChanged('the file has changed');
    if (typeof ifTaken !== 'object' && this.#entryOf([...parent, name])) throw new ItemExists('the name is taken');
    await roundTrip();
    this.#put(keyOf([...parent, name]), bytes, token);
    return name;
  }
}
