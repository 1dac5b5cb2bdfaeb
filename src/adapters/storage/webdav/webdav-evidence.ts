import { readBody } from '#adapters/storage/objects/service-request.ts';
import { nameError } from '#core/item-path.ts';
import { StorageUnavailable, StorageUnusable } from '#ports/storage.ts';
import { findEntry, isSameVersion, listEntries, type WebdavEntry } from './webdav-entries.ts';
import type { WebdavServer } from './webdav-server.ts';

/** Folder of the evidence of changes, within the folder of the location. */
const stagingFolder = '.postern';
/** Ends of the names in it. Servers refuse some extensions, and do not send files of unknown ones: `.txt` is harmless everywhere. */
const ends = { staged: '-data.txt', marker: '-begun.txt', removed: '-removed', rest: '-rest' } as const;
const tokenOf = (name: string) => name.replace(/-(data\.txt|begun\.txt|removed|rest)$/, '');

const maxMarker = 1 << 16; // bytes: a server may describe an error
const moveTimeLimit = 600_000; // ms: a server may copy a folder

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

export const versionOf = ({ folder, size, modified, etag }: WebdavEntry): Version | 'folder' =>
  folder ? 'folder' : { size, modified, etag };

/** Returns whether an entry is a version. A server may change the time and the ETag of a file when it moves it: one of them must be equal, if known. */
export function isVersion(version: Version | 'folder', entry: WebdavEntry): boolean {
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
export class WebdavEvidence {
  readonly server: WebdavServer;
  readonly now: () => number;
  #prepared: Promise<void> | null = null;
  /** When the sweep has first seen evidence whose age nothing shows. */
  readonly #firstSeen = new Map<string, number>();

  /** @param now ms since the epoch */
  constructor(server: WebdavServer, now: () => number) {
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

  find(path: readonly string[]) {
    return findEntry(this.server, path, this.now);
  }

  list(path: readonly string[]) {
    return listEntries(this.server, path, this.now);
  }

  /**
   * Runs a request that writes into the staging folder. Creates the folder first, and again if somebody has deleted it.
   * @param write returns the response, with status 404 or 409 if there is no such folder
   * @throws StorageUnusable if the folder cannot be created
   */
  async write(write: () => Promise<{ readonly status: number }>): Promise<void> {
    await this.prepare();
    const first = await write();
    if (first.status < 300) return;
    this.#prepared = null;
    await this.prepare();
    const { status } = await write();
    if (status >= 300) throw this.server.errorOf(status);
  }

  /** Notes that a move begins. */
  async mark(token: string, marker: Marker): Promise<void> {
    const request = { body: JSON.stringify(marker), expected: [404, 409], repeatable: true };
    await this.write(() => this.server.sendAndRead('PUT', this.server.urlOf(this.#marker(token)), request));
  }

  /** Returns what was noted before the move of a change; null: it was not begun. */
  async markerOf(token: string): Promise<Marker | null> {
    const response = await this.server.send('GET', this.server.urlOf(this.#marker(token)), { expected: [404] });
    const text = Buffer.from(await readBody('GET', () => response.read(maxMarker))).toString();
    return response.status === 404 ? null : parseMarker(text);
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
    return this.delete(this.#marker(token));
  }

  /** Moves what is left of a removed item into the staging area. @throws OutcomeUnknown if the server does not do it */
  async moveRest(path: readonly string[], token: string, isFolder: boolean): Promise<void> {
    const request = { headers: { overwrite: 'F' }, expected: [404], timeLimit: moveTimeLimit, once: true };
    await this.server.move(this.server.urlOf(path, isFolder), this.server.urlOf(this.#rest(token), isFolder), request);
  }

  /** Deletes the evidence of a change. @throws the first error, after all was tried */
  async clear(token: string): Promise<void> {
    const results = await Promise.allSettled(
      [this.staged(token), this.removed(token), this.#marker(token)].map((path) => this.delete(path)),
    );
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  /** Deletes an item, with what is in it. An absent one is no error. */
  async delete(path: readonly string[]): Promise<void> {
    const request = { repeatable: true, timeLimit: moveTimeLimit };
    const asFile = { ...request, expected: [301, 307, 308, 404, 409] };
    const { status } = await this.server.sendAndRead('DELETE', this.server.urlOf(path), asFile);
    // Some servers want a slash at the end of the address of a folder.
    if (status >= 300 && status !== 404)
      await this.server.sendAndRead('DELETE', this.server.urlOf(path, true), { ...request, expected: [404] });
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
    for (const [token, names] of found) {
      if (pending.has(token)) continue;
      const seen = this.#firstSeen.get(token) ?? this.now();
      this.#firstSeen.set(token, seen);
      const since = Math.min(written.get(token) ?? seen, seen); // a time in the future is that of a wrong clock
      if (this.now() - since > minAge) results.push(...(await Promise.allSettled(names.map((name) => this.delete([stagingFolder, name])))));
    }
    for (const result of results) if (result.status === 'rejected') throw result.reason; // after all were tried
  }

  /** Creates the staging folder if it is missing. @throws StorageUnusable */
  prepare(): Promise<void> {
    this.#prepared ??= this.#createFolder().catch((cause: unknown) => {
      this.#prepared = null;
      throw cause;
    });
    return this.#prepared;
  }

  async #createFolder(): Promise<void> {
    const request = { expected: [403, 405, 409], repeatable: true };
    const { status } = await this.server.sendAndRead('MKCOL', this.server.urlOf([stagingFolder], true), request);
    if (status < 300) return;
    if (status === 409) throw this.server.errorOf(404);
    if (status === 405 && (await this.find([stagingFolder]))?.folder) return;
    if (status === 403 && (await this.find([stagingFolder]).catch(() => null))?.folder) return;
    throw new StorageUnusable('the folder .postern cannot be created: the server or the rights of the user do not allow it');
  }
}
