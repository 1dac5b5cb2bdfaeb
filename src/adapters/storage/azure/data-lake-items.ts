import { deletionLimit } from '#adapters/storage/deletion-limit.ts';
import type { FileServer } from '#adapters/storage/moves/collected-upload.ts';
import type { MoveOptions, MoveOutcome, ServerEntry } from '#adapters/storage/moves/item-server.ts';
import { maxListTime, objectFromHeaders } from '#adapters/storage/objects/list-pages.ts';
import { serviceErrorOf } from '#adapters/storage/objects/service-errors.ts';
import { bodyTimeLimit, readBody, slowTimeLimit } from '#adapters/storage/objects/service-request.ts';
import { nameError } from '#core/item-path.ts';
import type { GroupMemory } from '#core/memory-budget.ts';
import type { OutboundBody, OutboundResponse } from '#ports/outbound.ts';
import { ChangeImpossible, ItemExists, ItemNotFound, StorageUnavailable, StorageUnusable } from '#ports/storage-errors.ts';
import type { AzureContainer } from './azure-container.ts';
import { azureCodeOf } from './azure-errors.ts';
import { isArchiveTier, isAzureKeyTooLong } from './azure-list.ts';
import { readDataLakePage } from './data-lake-list.ts';
import { slicesOf } from './slices-of.ts';

const maxText = 1 << 16; // bytes
const maxListed = 1_000_000; // entries of one folder
const listQuery = { resource: 'filesystem', recursive: 'false' };
/** Maximum bytes of a file that are sent with one request. The service accepts 4000 MiB. */
const maxAppend = 1 << 30;
const maxDeletionPages = 1000; // requests for one folder
const ifAbsent = { 'if-none-match': '*' };
const notCreated = [409, 412]; // the path exists
/** Statuses with which the service refuses a rename. */
const refusals = [400, 403, 404, 409, 412];

/** Returns the error for a response with which a rename was refused. */
function refusalOf(response: OutboundResponse): Error {
  const code = azureCodeOf(response);
  if (response.status === 412 || code === 'PathAlreadyExists' || code === 'BlobAlreadyExists') return new ItemExists('the name is taken');
  if (response.status === 404) return new ItemNotFound('the item or its folder no longer exists');
  return new ChangeImpossible('The service refuses this change');
}

/** The files and folders of a location in an account with a hierarchical namespace: folders are real, and are renamed in one step. */
export class DataLakeItems implements FileServer {
  readonly movesAtOnce = true;
  readonly isPart = async () => false;
  /**
   * `move` is longer than the time limit of the request. `newFile` may be shorter: even a late rename can move only the file of its own
   * change, because no other change uses the old name, which is in the staging area.
   */
  readonly maxWorkTimes = { move: 120_000, newFile: () => 30_000 };
  readonly container: AzureContainer;
  readonly #limitDeletion = deletionLimit();
  readonly #memory: GroupMemory;
  readonly #root: readonly string[];

  /** @param memory for lists @param prefix path of the root of the location in the container */
  constructor(container: AzureContainer, memory: GroupMemory, prefix = '') {
    this.container = container;
    this.#memory = memory;
    this.#root = prefix.split('/').filter((segment) => segment !== '');
  }

  /** Returns the path of an item in the container; '' for the container itself. */
  keyOf = (path: readonly string[]): string => [...this.#root, ...path].join('/');

  async find(path: readonly string[]): Promise<ServerEntry | null> {
    const key = this.keyOf(path);
    const name = path.at(-1) ?? '';
    const folder: ServerEntry = { name, folder: true, size: 0, modified: null, etag: 'W/"folder"' };
    if (key === '') {
      // A SAS token of the container does not allow a request for the properties of the container.
      await this.container.sendAndRead('GET', '', { query: { ...listQuery, maxResults: '1' } });
      return folder;
    }
    if (isAzureKeyTooLong(key)) return null;
    const { status, headers } = await this.container.sendAndRead('HEAD', key, { expected: [404] });
    if (status === 404) return null;
    if (headers['x-ms-resource-type'] === 'directory' || headers['x-ms-meta-hdi_isfolder'] === 'true') return folder;
    const { size, modified, etag } = objectFromHeaders(key, headers, false);
    const mayNeedRestore = isArchiveTier(headers['x-ms-access-tier']) ? { mayNeedRestore: true } : {};
    return { name, folder: false, size, modified, etag, isEmpty: size === 0, ...mayNeedRestore };
  }

  async *list(path: readonly string[]): AsyncGenerator<readonly ServerEntry[]> {
    const key = this.keyOf(path);
    const query = { ...listQuery, maxResults: '1000', ...(key === '' ? {} : { directory: key }) };
    using memory = this.#memory.begin();
    let [count, waitTime] = [0, 0];
    for (let next = ''; ; ) {
      const { monotonic } = this.container;
      const since = monotonic();
      const request = { query: { ...query, ...(next === '' ? {} : { continuation: next }) }, expected: [404], timeLimit: slowTimeLimit };
      const response = await this.container.send('GET', '', request);
      if (response.status === 404) return void response.discard();
      const entries = await readDataLakePage(response, key === '' ? '' : `${key}/`, monotonic, memory);
      waitTime += monotonic() - since;
      if (waitTime > maxListTime) throw new StorageUnavailable('the service takes too long to list the folder');
      count += 1 + entries.length;
      if (count > maxListed) throw new StorageUnavailable('the folder has too many files');
      yield entries.filter(({ name }) => nameError(name) === null);
      const { 'x-ms-continuation': continuation = '' } = response.headers;
      if (continuation === '') return;
      if (continuation === next) throw new StorageUnavailable('the service lists the same files again');
      next = continuation;
    }
  }

  async readText(path: readonly string[]): Promise<string | null> {
    const response = await this.container.get(this.keyOf(path), { expected: [404] });
    return response && Buffer.from(await readBody('GET', () => response.read(maxText))).toString();
  }

  writeText(path: readonly string[], text: string): Promise<boolean> {
    const bytes = Buffer.from(text);
    return this.storeFile(path, {
      length: bytes.length,
      pieces: {
        [Symbol.asyncIterator]: async function* () {
          yield bytes;
        },
      },
    });
  }

  async storeFile(path: readonly string[], body: OutboundBody): Promise<boolean> {
    const key = this.keyOf(path);
    // Not `repeatable`: a copy of the request that reaches the service late would empty the file.
    const creation = await this.container.sendAndRead('PUT', key, { query: { resource: 'file' }, expected: [404] });
    if (creation.status === 404) return false;
    let position = 0;
    for (const slice of slicesOf(body, maxAppend)) {
      const query = { action: 'append', position: `${position}` };
      const attempts = slice === body ? { repeatable: true } : { once: true }; // a slice can be read only once
      await this.container.sendAndRead('PATCH', key, { query, body: slice, timeLimit: bodyTimeLimit, ...attempts });
      position += slice.length;
    }
    const query = { action: 'flush', position: `${position}`, close: 'true' };
    await this.container.sendAndRead('PATCH', key, { query, timeLimit: slowTimeLimit, repeatable: true });
    return true;
  }

  async createFolder(path: readonly string[]): Promise<boolean> {
    const { status } = await this.#makeFolder(path, [404, ...notCreated]);
    if (status === 404) return false;
    if (status >= 300 && !(await this.find(path))?.folder) throw new StorageUnavailable('the folder cannot be created');
    return true;
  }

  async createStagingFolder(path: readonly string[]): Promise<void> {
    const { status } = await this.#makeFolder(path, [403, ...notCreated]);
    if (status < 300 || (await this.find(path).catch(() => null))?.folder) return;
    throw new StorageUnusable('the folder .postern cannot be created: a file has this name, or the credentials do not allow it');
  }

  async move(from: readonly string[], to: readonly string[], { overwrites, confirm }: Omit<MoveOptions, 'isFolder'>): Promise<MoveOutcome> {
    const source = await this.container.renameSource(this.keyOf(from));
    await confirm?.();
    try {
      const headers = { 'x-ms-rename-source': source, ...(overwrites ? {} : ifAbsent) };
      const response = await this.container.sendAndRead('PUT', this.keyOf(to), { headers, expected: refusals, once: true });
      return response.status < 300 ? 'moved' : refusalOf(response);
    } catch (cause) {
      if (cause instanceof ChangeImpossible) return cause; // such as for a leased file
      if (!(cause instanceof StorageUnavailable)) throw cause;
      return serviceErrorOf(cause) ? 'failed' : 'lost';
    }
  }

  delete(path: readonly string[]): Promise<void> {
    return this.#limitDeletion(() => this.#delete(this.keyOf(path)));
  }

  async #delete(key: string): Promise<void> {
    const { status } = await this.container.sendAndRead('DELETE', key, { expected: [400, 404, 409], repeatable: true });
    if (status < 300 || status === 404) return;
    // The service wants `recursive` for folders, and does not accept it for files.
    let next = '';
    for (let page = 0; page < maxDeletionPages; page += 1) {
      const query = { recursive: 'true', ...(next === '' ? {} : { continuation: next }) };
      const { headers } = await this.container.sendAndRead('DELETE', key, { query, expected: [404], repeatable: true });
      next = headers['x-ms-continuation'] ?? ''; // of a large folder
      if (next === '') return;
    }
    throw new StorageUnavailable('the service does not complete a deletion');
  }

  #makeFolder(path: readonly string[], expected: readonly number[]): Promise<OutboundResponse> {
    return this.container.sendAndRead('PUT', this.keyOf(path), { query: { resource: 'directory' }, headers: ifAbsent, expected });
  }
}
