import { readBody } from '#adapters/storage/objects/service-request.ts';
import { nameError } from '#core/item-path.ts';
import { StorageUnusable } from '#ports/storage.ts';
import { findEntry, listEntries, type WebdavEntry } from './webdav-entries.ts';
import type { WebdavServer } from './webdav-server.ts';

/** Folder of the evidence of changes, within the folder of the location. */
const stagingFolder = '.postern';
/** Ends of the names in it. Servers refuse some extensions, and do not send files of unknown ones: `.txt` is harmless everywhere. */
const ends = { staged: '-data.txt', marker: '-begun.txt', removed: '-removed' } as const;
const tokenOf = (name: string) => name.replace(/-(data\.txt|begun\.txt|removed)$/, '');

const maxMarker = 1 << 16; // bytes: a server may describe an error
const moveTimeLimit = 600_000; // ms: a server may copy a folder

/** What is noted directly before an item is moved. */
export interface Marker {
  /** The name that the item gets. */
  readonly name: string;
  /** Whether it replaces a file. */
  readonly overwrites: boolean;
  /** When it was noted; ms since the epoch. */
  readonly at: number;
  /** Size and time of the item, which a move does not change; null: a folder. */
  readonly item: { readonly size: number; readonly modified: number | null } | null;
}

/** Returns whether an entry may be the item that a marker describes. */
export function isItemOf({ item }: Marker, { folder, size }: WebdavEntry): boolean {
  return item === null ? folder : !folder && size === item.size;
}

function parseMarker(text: string): Marker | null {
  try {
    const { name, overwrites, at, item }: Marker = JSON.parse(text);
    return typeof name === 'string' && nameError(name) === null ? { name, overwrites: overwrites === true, at: Number(at), item } : null;
  } catch {
    return null;
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
    await this.#prepare();
    const first = await write();
    if (first.status < 300) return;
    this.#prepared = null;
    await this.#prepare();
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

  /** Deletes the marker of a change: nothing was moved. */
  unmark(token: string): Promise<void> {
    return this.delete(this.#marker(token));
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
        if (modified !== null && !name.endsWith(ends.removed)) written.set(token, Math.max(modified, written.get(token) ?? 0));
      }
    const pending = new Set(await pendingTokens());
    for (const token of this.#firstSeen.keys()) if (!found.has(token)) this.#firstSeen.delete(token);
    for (const [token, names] of found) {
      if (pending.has(token)) continue;
      const since = written.get(token) ?? this.#firstSeen.get(token) ?? this.now();
      this.#firstSeen.set(token, since);
      if (this.now() - since > minAge) for (const name of names) await this.delete([stagingFolder, name]);
    }
  }

  #prepare(): Promise<void> {
    this.#prepared ??= this.#createFolder().catch((cause: unknown) => {
      this.#prepared = null;
      throw cause;
    });
    return this.#prepared;
  }

  async #createFolder(): Promise<void> {
    const request = { expected: [403, 405, 409], repeatable: true };
    const { status } = await this.server.sendAndRead('MKCOL', this.server.urlOf([stagingFolder], true), request);
    if (status < 300 || (await this.find([stagingFolder]))?.folder) return;
    if (status === 409) throw this.server.errorOf(404);
    throw new StorageUnusable('the folder .postern cannot be created: the user may not write there');
  }
}
