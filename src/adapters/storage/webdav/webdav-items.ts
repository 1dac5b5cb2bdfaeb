import type { FileServer } from '#adapters/storage/moves/collected-upload.ts';
import type { MoveOptions, MoveOutcome } from '#adapters/storage/moves/item-server.ts';
import { serviceErrorOf } from '#adapters/storage/objects/service-errors.ts';
import { readBody, readPieces } from '#adapters/storage/objects/service-request.ts';
import type { OutboundBody } from '#ports/outbound.ts';
import {
  ChangeImpossible,
  ItemBusy,
  ItemExists,
  ItemNotFound,
  PathTooLong,
  StorageFull,
  StorageUnavailable,
  StorageUnusable,
} from '#ports/storage-errors.ts';
import { haveSameBeginning } from './same-beginning.ts';
import { findEntry, listEntries, type WebdavEntry } from './webdav-entries.ts';
import type { WebdavServer } from './webdav-server.ts';

const maxText = 1 << 16; // bytes: with status 404, the body is an error page of the server, which may be long
const bodyTimeLimit = 3_600_000; // ms until a file is stored
const moveTimeLimit = 600_000; // ms: a server may copy a folder
const multiStatus = 207; // RFC 4918, 9.9.4: some items were not moved
/** Statuses with which a server refuses a move. */
const refusals = [400, 403, 404, 405, 409, 412, 414, 415, 423, 507];

/** Returns the error for a status with which a move was refused. */
function refusalOf(status: number): Error {
  if (status === 412) return new ItemExists('the name is taken');
  if (status === 423) return new ItemBusy('another program has locked the item');
  if (status === 414) return new PathTooLong('the server refuses an address of this length');
  if (status === 507) return new StorageFull('the server has no space left');
  if (status === 404 || status === 409) return new ItemNotFound('the item or its folder no longer exists');
  return new ChangeImpossible('The server refuses this change');
}

/** Names of files with which Apache and IIS configure themselves: a visitor who could write one could change the server. */
const isReserved = (path: readonly string[]) => /^(\.ht.*|web\.config[. ]*(:.*)?)$/i.test(path.at(-1) ?? ''); // IIS ignores dots and spaces at the end

const unreadable = [403, 404, 410, 423]; // statuses of files that are gone, locked, or not for this user

/** The files and folders of a location at a WebDAV server. */
export class WebdavItems implements FileServer {
  readonly movesAtOnce = false;
  readonly maxWorkTimes = {
    move: 660_000,
    newFile: (size: number) => 30_000 + size / 1000, // a slow server copies 1000 bytes in one ms
  };
  readonly server: WebdavServer;
  readonly #now: () => number;

  /** @param now ms since the epoch */
  constructor(server: WebdavServer, now: () => number) {
    this.server = server;
    this.#now = now;
  }

  find(path: readonly string[]): Promise<WebdavEntry | null> {
    return findEntry(this.server, path, this.#now);
  }

  list(path: readonly string[]): AsyncGenerator<WebdavEntry[]> {
    return listEntries(this.server, path, this.#now);
  }

  async isPart(path: readonly string[], size: number, whole: readonly string[]): Promise<boolean> {
    return this.#compare(path, (part) => this.#compare(whole, (file) => haveSameBeginning(part, file, size)));
  }

  /**
   * Runs a comparison of a file. The time between two pieces of the file is limited, the total time is not.
   * @returns the result of the comparison; false if the file cannot be read
   */
  async #compare(path: readonly string[], comparison: (pieces: AsyncIterable<Uint8Array>) => Promise<boolean>): Promise<boolean> {
    const response = await this.server.send('GET', this.server.urlOf(path), { expected: unreadable, timeLimit: null });
    try {
      return !unreadable.includes(response.status) && (await comparison(readPieces('GET', response)));
    } finally {
      response.discard();
    }
  }

  async readText(path: readonly string[]): Promise<string | null> {
    const response = await this.server.send('GET', this.server.urlOf(path), { expected: [404] });
    const text = Buffer.from(await readBody('GET', () => response.read(maxText))).toString();
    return response.status === 404 ? null : text;
  }

  async writeText(path: readonly string[], text: string): Promise<boolean> {
    const request = { body: text, expected: [404, 409], repeatable: true };
    return (await this.server.sendAndRead('PUT', this.server.urlOf(path), request)).status < 300;
  }

  async storeFile(path: readonly string[], body: OutboundBody): Promise<boolean> {
    const request = { body, timeLimit: bodyTimeLimit, repeatable: true, expected: [404, 409] };
    return (await this.server.sendAndRead('PUT', this.server.urlOf(path), request)).status < 300;
  }

  async createFolder(path: readonly string[]): Promise<boolean> {
    const request = { expected: [404, 405, 409], repeatable: true };
    const { status } = await this.server.sendAndRead('MKCOL', this.server.urlOf(path, true), request);
    return status < 300 || status === 405; // 405: an earlier try of the same request has created the folder
  }

  async createStagingFolder(path: readonly string[]): Promise<void> {
    const request = { expected: [403, 405, 409], repeatable: true };
    const { status } = await this.server.sendAndRead('MKCOL', this.server.urlOf(path, true), request);
    if (status < 300) return;
    if (status === 409) throw this.server.errorOf(404);
    if (status === 405 && (await this.find(path))?.folder) return;
    if (status === 403 && (await this.find(path).catch(() => null))?.folder) return;
    throw new StorageUnusable(
      'the folder .postern cannot be created: a file has this name, or the server or the rights of the user forbid it',
    );
  }

  async move(from: readonly string[], to: readonly string[], { isFolder, overwrites, confirm }: MoveOptions): Promise<MoveOutcome> {
    const request = { headers: { overwrite: overwrites ? 'T' : 'F' }, expected: refusals, timeLimit: moveTimeLimit, once: true };
    if (isReserved(from) || isReserved(to)) return new ChangeImpossible('This name is reserved for the configuration of the server');
    await confirm?.();
    try {
      const { status } = await this.server.move(this.server.urlOf(from, isFolder), this.server.urlOf(to, isFolder), request);
      if (refusals.includes(status)) return refusalOf(status);
      return status === multiStatus ? 'failed' : 'moved';
    } catch (cause) {
      if (!(cause instanceof StorageUnavailable)) throw cause;
      return serviceErrorOf(cause) ? 'failed' : 'lost';
    }
  }

  async delete(path: readonly string[]): Promise<void> {
    const request = { repeatable: true, timeLimit: moveTimeLimit };
    const asFile = { ...request, expected: [301, 307, 308, 404, 409] };
    const { status } = await this.server.sendAndRead('DELETE', this.server.urlOf(path), asFile);
    // Some servers want a slash at the end of the address of a folder.
    if (status >= 300 && status !== 404)
      await this.server.sendAndRead('DELETE', this.server.urlOf(path, true), { ...request, expected: [404] });
  }
}
