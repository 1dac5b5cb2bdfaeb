import { isSameVersion } from '#adapters/storage/computed-etag.ts';
import { nameError } from '#core/item-path.ts';
import { ItemNotFound, OutcomeUnknown, StorageUnavailable } from '#ports/storage.ts';
import type { ItemServer, ServerEntry } from './item-server.ts';

/** Folder of the evidence of changes, within the folder of the location. */
const stagingFolder = '.postern';
/** Ends of the names in it. Servers refuse some extensions, and do not send files of unknown ones: `.txt` is harmless everywhere. */
const ends = { staged: '-data.txt', marker: '-begun.txt', removed: '-removed', rest: '-rest' } as const;
const tokenOf = (name: string) => name.replace(/-(data\.txt|begun\.txt|removed|rest)$/, '');

/** A version of a file, as far as a move does not change it. */
export interface Version {
  readonly size: number;
  /** ms since the epoch; null: unknown. */
  readonly modified: number | null;
  readonly etag: string;
}

/** What is noted directly before an item is moved. */
export interface Marker {
  /** The name that the item gets. */
  readonly name: string;
  /** When it was noted; ms since the epoch. */
  readonly at: number;
  readonly item: Version | 'folder';
  /** The file that it replaces; null: the name was free. */
  readonly replaced: Version | 'folder' | null;
}

export const versionOf = ({ folder, size, modified, etag }: ServerEntry): Version | 'folder' =>
  folder ? 'folder' : { size, modified, etag };

/** Returns whether an entry is a version. A server may change the time and the ETag of a file when it moves it: one of them must be equal, if known. */
export function isVersion(version: Version | 'folder', entry: ServerEntry): boolean {
  if (version === 'folder' || entry.folder) return version === 'folder' && entry.folder;
  if (version.size !== entry.size) return false;
  return version.modified === null || version.modified === entry.modified || isSameVersion(version.etag, entry.etag);
}

const isVersionLike = (value: unknown): boolean => value === 'folder' || (typeof value === 'object' && value !== null && 'size' in value);

/** @throws StorageUnavailable if it is no marker: then nothing is known of the change */
function parseMarker(text: string): Marker {
  try {
    const marker: Marker = JSON.parse(text);
    const { name, at, item, replaced } = marker;
    if (typeof name !== 'string' || nameError(name) !== null || typeof at !== 'number') throw new TypeError('a member is wrong');
    if (!isVersionLike(item) || (replaced !== null && !isVersionLike(replaced))) throw new TypeError('a version is wrong');
    return marker;
  } catch (cause) {
    throw new StorageUnavailable('the server sent no marker of a change', { cause });
  }
}

/** The evidence of changes at a server. */
export class ChangeEvidence {
  readonly server: ItemServer;
  readonly now: () => number;
  #prepared: Promise<void> | null = null;
  /** When the sweep has first seen evidence whose age nothing shows. */
  readonly #firstSeen = new Map<string, number>();
  /** Changes whose evidence only the sweep deletes. */
  readonly #kept = new Set<string>();

  /** @param now ms since the epoch */
  constructor(server: ItemServer, now: () => number) {
    this.server = server;
    this.now = now;
  }

  /** The path of the staging folder. */
  readonly folder: readonly string[] = [stagingFolder];
  /** The path of a file or folder before it is put in place. */
  staged = (token: string): readonly string[] => [stagingFolder, token + ends.staged];
  /** The path of an item that was removed. */
  removed = (token: string): readonly string[] => [stagingFolder, token + ends.removed];
  readonly #rest = (token: string): readonly string[] => [stagingFolder, token + ends.rest];
  readonly #marker = (token: string): readonly string[] => [stagingFolder, token + ends.marker];

  find(path: readonly string[]): Promise<ServerEntry | null> {
    return this.server.find(path);
  }

  list(path: readonly string[]): AsyncIterable<readonly ServerEntry[]> {
    return this.server.list(path);
  }

  /**
   * Runs a request that writes into the staging folder. Creates the folder first, and again if somebody has deleted it.
   * @param write returns false if there is no such folder
   * @throws StorageUnusable if the folder cannot be created
   */
  async write(write: () => Promise<boolean>): Promise<void> {
    await this.prepare();
    if (await write()) return;
    this.#prepared = null;
    await this.prepare();
    if (!(await write())) throw new StorageUnavailable('there is no such folder');
  }

  /** Notes that a move begins. */
  async mark(token: string, marker: Marker): Promise<void> {
    await this.write(() => this.server.writeText(this.#marker(token), JSON.stringify(marker)));
  }

  /** Returns what was noted before the move of a change; null: it was not begun. */
  async markerOf(token: string): Promise<Marker | null> {
    const text = await this.server.readText(this.#marker(token));
    return text === null ? null : parseMarker(text);
  }

  /** Returns whether a time has passed since a marker was written. The clock of another process, or of the server, may be wrong: then it counts from the first look. */
  isSettled(token: string, { at }: Marker, time: number): boolean {
    const seen = this.#firstSeen.get(token) ?? this.now();
    this.#firstSeen.set(token, seen);
    const age = this.now() - at;
    return (age >= 0 && age > time) || this.now() - seen > time;
  }

  /** Deletes the marker of a change: nothing was moved. */
  unmark(token: string): Promise<void> {
    return this.server.delete(this.#marker(token));
  }

  /** Moves what is left of a removed item into the staging area. @throws OutcomeUnknown if the server does not do it */
  async moveRest(path: readonly string[], token: string, isFolder: boolean): Promise<void> {
    const outcome = await this.server.move(path, this.#rest(token), { isFolder, overwrites: false });
    if (outcome !== 'moved' && !(outcome instanceof ItemNotFound))
      throw new OutcomeUnknown('the server has not moved the rest of an item', { cause: outcome });
  }

  /**
   * Keeps the evidence of a removal until the sweep, because a request may reach the server late: it finds its new name taken then,
   * and does not move another item that has got the name of the removed one.
   */
  keep(token: string): void {
    this.#kept.add(token);
  }

  /** Deletes the evidence of a change, unless it is kept. @throws the first error, after all was tried */
  async clear(token: string): Promise<void> {
    if (this.#kept.has(token)) return;
    const results = await Promise.allSettled(
      [this.staged(token), this.removed(token), this.#marker(token)].map((path) => this.server.delete(path)),
    );
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  /** Deletes the evidence of changes that are not pending. @param minAge ms: younger evidence may belong to another installation */
  async sweep(pendingTokens: () => Promise<readonly string[]>, minAge: number): Promise<void> {
    const found = new Map<string, string[]>();
    const written = new Map<string, number>(); // when the newest file of a change was written; what was removed keeps its old time
    for await (const entries of this.list([stagingFolder]))
      for (const { name, modified } of entries) {
        const token = tokenOf(name);
        found.set(token, [...(found.get(token) ?? []), name]);
        if (modified !== null && !name.endsWith(ends.removed) && !name.endsWith(ends.rest))
          written.set(token, Math.max(modified, written.get(token) ?? 0));
      }
    const pending = new Set(await pendingTokens());
    const results: PromiseSettledResult<void>[] = [];
    for (const token of this.#firstSeen.keys()) if (!found.has(token)) this.#firstSeen.delete(token);
    for (const token of this.#kept) if (!found.has(token)) this.#kept.delete(token);
    for (const [token, names] of found) {
      if (pending.has(token)) continue;
      const seen = this.#firstSeen.get(token) ?? this.now();
      this.#firstSeen.set(token, seen);
      const since = Math.min(written.get(token) ?? seen, seen); // a time in the future is that of a wrong clock
      if (this.now() - since > minAge)
        results.push(...(await Promise.allSettled(names.map((name) => this.server.delete([stagingFolder, name])))));
    }
    for (const result of results) if (result.status === 'rejected') throw result.reason; // after all were tried
  }

  /** Creates the staging folder if it is missing. @throws StorageUnusable */
  prepare(): Promise<void> {
    this.#prepared ??= this.server.createStagingFolder(this.folder).catch((cause: unknown) => {
      this.#prepared = null;
      throw cause;
    });
    return this.#prepared;
  }
}
