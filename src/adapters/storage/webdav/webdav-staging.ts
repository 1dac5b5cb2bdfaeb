import { readBody } from '#adapters/storage/objects/service-request.ts';
import { nameError } from '#core/item-path.ts';
import { ItemBusy, ItemExists, ItemNotFound, OutcomeUnknown, StorageUnavailable, StorageUnusable } from '#ports/storage.ts';
import { findEntry, listEntries } from './webdav-entries.ts';
import type { WebdavServer } from './webdav-server.ts';

/** Folder of the evidence of changes, within the folder of the location. */
const stagingFolder = '.postern';
/** Names in it. A marker is written directly before the step that makes a change, and contains the name that the item gets. */
const names = { staged: 'part', marker: 'begun', removed: 'removed' } as const;

const maxName = 1 << 16; // bytes: a server may describe an error
const moveTimeLimit = 600_000; // ms: a server may copy a folder

/** Moves items, and keeps the evidence of changes. */
export class WebdavStaging {
  readonly server: WebdavServer;
  readonly #now: () => number;
  #prepared: Promise<void> | null = null;

  /** @param now ms since the epoch */
  constructor(server: WebdavServer, now: () => number) {
    this.server = server;
    this.#now = now;
  }

  /** The path of a file or folder before it is put in place. */
  staged(token: string): readonly string[] {
    return [stagingFolder, `${token}.${names.staged}`];
  }

  /** The path of an item that was removed. */
  removed(token: string): readonly string[] {
    return [stagingFolder, `${token}.${names.removed}`];
  }

  /** Creates the staging folder if it is missing. @throws StorageUnusable */
  prepare(): Promise<void> {
    this.#prepared ??= this.#createStaging().catch((cause: unknown) => {
      this.#prepared = null;
      throw cause;
    });
    return this.#prepared;
  }

  async #createStaging(): Promise<void> {
    const { status } = await this.createFolder([stagingFolder]);
    if (status === 409) throw new StorageUnavailable('there is no such folder');
    if (status >= 300 && !(await this.find([stagingFolder]))?.folder) throw new StorageUnusable('the folder .postern cannot be created');
  }

  find(path: readonly string[]) {
    return findEntry(this.server, path, this.#now);
  }

  list(path: readonly string[]) {
    return listEntries(this.server, path, this.#now);
  }

  /** Creates a folder in the staging area. @returns the response: 405 if the name is taken, 409 if there is no parent */
  createFolder(path: readonly string[]) {
    return this.server.sendAndRead('MKCOL', this.server.urlOf(path, true), { expected: [405, 409], repeatable: true });
  }

  /**
   * Notes that a change begins, then moves an item.
   * @param overwrites whether the item may replace a file
   * @throws ItemExists, ItemNotFound (no such item or parent), ItemBusy
   */
  async move(
    from: readonly string[],
    to: readonly string[],
    options: { readonly token: string; readonly isFolder: boolean; readonly overwrites?: boolean },
  ) {
    const { token, isFolder, overwrites = false } = options;
    await this.#mark(token, to.at(-1) ?? '');
    const headers = { destination: this.server.urlOf(to, isFolder).href, overwrite: overwrites ? 'T' : 'F' };
    const request = { headers, expected: [404, 409, 412, 423], timeLimit: moveTimeLimit };
    const sendMove = () => this.server.sendAndRead('MOVE', this.server.urlOf(from, isFolder), request);
    const { status } = await sendMove().catch(async (cause: unknown) => {
      // Servers close connections that they take for idle. The evidence shows whether the item was moved.
      if (!(cause instanceof OutcomeUnknown)) throw cause;
      if (await this.find(from)) return sendMove();
      if (await this.find(to)) return { status: 201 };
      throw cause;
    });
    if (status < 300) return;
    await this.#unmark(token); // nothing was moved
    if (status === 412) throw new ItemExists('the name is taken');
    if (status === 423) throw new ItemBusy('another program has locked the item');
    throw new ItemNotFound('the item or its folder no longer exists');
  }

  /** Returns the name that the change gives to its item, if its move was begun. */
  async nameOf(token: string): Promise<string | null> {
    const response = await this.server.send('GET', this.server.urlOf(this.#marker(token)), { expected: [404] });
    const text = Buffer.from(await readBody('GET', () => response.read(maxName))).toString();
    return response.status === 404 || nameError(text) !== null ? null : text;
  }

  /** Deletes the evidence of a change. */
  async clear(token: string): Promise<void> {
    for (const path of [this.staged(token), this.removed(token)]) await this.delete(path);
    await this.#unmark(token);
  }

  /** Deletes an item, with what is in it. An absent one is no error. */
  async delete(path: readonly string[], isFolder = false): Promise<void> {
    const request = { expected: [404], repeatable: true, timeLimit: moveTimeLimit };
    await this.server.sendAndRead('DELETE', this.server.urlOf(path, isFolder), request);
  }

  /** Deletes all evidence but that of pending changes. @param minAge ms: younger evidence may belong to another installation */
  async sweep(pendingTokens: () => Promise<readonly string[]>, minAge: number): Promise<void> {
    for await (const entries of this.list([stagingFolder])) {
      const pending = new Set(await pendingTokens());
      for (const { name, modified, folder } of entries)
        if (!pending.has(name.replace(/\.[a-z]+$/, '')) && (modified === null || this.#now() - modified > minAge))
          await this.delete([stagingFolder, name], folder);
    }
  }

  #marker(token: string): readonly string[] {
    return [stagingFolder, `${token}.${names.marker}`];
  }

  async #mark(token: string, name: string): Promise<void> {
    await this.prepare();
    await this.server.sendAndRead('PUT', this.server.urlOf(this.#marker(token)), { body: name, repeatable: true });
  }

  async #unmark(token: string): Promise<void> {
    await this.delete(this.#marker(token));
  }
}
