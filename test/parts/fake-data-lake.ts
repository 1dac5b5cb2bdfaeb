import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { AzureConfiguration } from '#core/records/location-configurations.ts';

interface FakeItem {
  readonly folder: boolean;
  bytes: Buffer;
  /** Appended pieces by their position, until they are flushed. */
  appended: Map<number, Buffer>;
  modified: Date;
  etag: string;
}

const account = 'acme';

/**
 * A fake Azure account with a hierarchical namespace, which the emulator azurite does not support. It follows the documentation of Azure
 * Data Lake Storage. It has one container, and does not check the signatures of requests: azurite checks them in other tests.
 */
export class FakeDataLake implements AsyncDisposable {
  readonly items = new Map<string, FakeItem>();
  /** Method and target of each request so far. */
  readonly requests: string[] = [];
  /** Replaces the response to a request. @returns whether it has responded */
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean = () => false;
  hasHierarchy = true;
  readonly #server = createServer((request, response) => void this.#handle(request, response));
  #changes = 0;

  async start(): Promise<AzureConfiguration> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const { port } = this.#server.address() as AddressInfo;
    const endpoint = `http://127.0.0.1:${port}/${account}`;
    return { endpoint, container: 'reports', accountKey: 'c2VjcmV0', hierarchicalNamespace: true };
  }

  async [Symbol.asyncDispose]() {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests.push(`${request.method} ${request.url}`);
    const body = await buffer(request).catch(() => null); // the client has left
    if (body === null || this.intercept(request, response)) return;
    const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://localhost');
    const [, , container, ...segments] = pathname.split('/').map(decodeURIComponent);
    const path = segments.join('/');
    if (query.get('restype') === 'account') return void response.setHeader('x-ms-is-hns-enabled', `${this.hasHierarchy}`).end();
    if (container !== 'reports') return void refuse(response, 404, 'FilesystemNotFound');
    if (path === '') return void this.#handleContainer(request, response, query);
    if (request.method === 'PUT') return void this.#put(request, response, path, query);
    const item = this.items.get(path);
    if (!item) return void refuse(response, 404, 'PathNotFound');
    if (request.method === 'PATCH') return void this.#patch(response, item, query, body);
    if (request.method === 'DELETE') return void this.#delete(response, path, item, query);
    this.#read(request, response, item);
  }

  #handleContainer({ method }: IncomingMessage, response: ServerResponse, query: URLSearchParams): void {
    if (method === 'HEAD') return void refuse(response, 403, 'AuthorizationPermissionMismatch'); // as for a SAS token of the container
    const folder = query.get('directory') ?? '';
    if (folder !== '' && !this.items.get(folder)?.folder) return void refuse(response, 404, 'PathNotFound');
    const names = [...this.items.keys()].filter((name) => parentOf(name) === folder).sort();
    const start = Number(query.get('continuation') ?? 0);
    const end = start + Number(query.get('maxResults') ?? 5000);
    if (end < names.length) response.setHeader('x-ms-continuation', `${end}`);
    const paths = names.slice(start, end).map((name) => {
      const item = this.items.get(name);
      const directory = item?.folder ? { isDirectory: 'true' } : {};
      const [lastModified, etag] = [item?.modified.toUTCString(), item?.etag.replaceAll('"', '')];
      return { name, ...directory, contentLength: `${item?.bytes.length ?? 0}`, lastModified, etag };
    });
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ paths }));
  }

  #newItem(folder: boolean): FakeItem {
    this.#changes += 1;
    return { folder, bytes: Buffer.alloc(0), appended: new Map(), modified: new Date(), etag: `"0x${this.#changes}"` };
  }

  /** Creates the folders above a path. @returns false if one of them is a file */
  #createParents(path: string): boolean {
    const parent = parentOf(path);
    if (parent === '') return true;
    const item = this.items.get(parent);
    if (item) return item.folder;
    if (!this.#createParents(parent)) return false;
    this.items.set(parent, this.#newItem(true));
    return true;
  }

  #put({ headers }: IncomingMessage, response: ServerResponse, path: string, query: URLSearchParams): void {
    const existing = this.items.get(path);
    if (existing && headers['if-none-match'] === '*') return void refuse(response, 409, 'PathAlreadyExists');
    const { 'x-ms-rename-source': source } = headers;
    if (typeof source === 'string') return void this.#rename(response, decodeURIComponent(source.replace('/reports/', '')), path);
    const folder = query.get('resource') === 'directory';
    if (existing && existing.folder !== folder) return void refuse(response, 409, 'ResourceTypeMismatch');
    if (!this.#createParents(path)) return void refuse(response, 409, 'PathConflict');
    if (!existing || !folder) this.items.set(path, this.#newItem(folder));
    response.writeHead(201).end();
  }

  #rename(response: ServerResponse, from: string, to: string): void {
    const [item, replaced] = [this.items.get(from), this.items.get(to)];
    if (!item) return void refuse(response, 404, 'SourcePathNotFound');
    if (parentOf(to) !== '' && !this.items.get(parentOf(to))?.folder)
      return void refuse(response, 404, 'RenameDestinationParentPathNotFound');
    if (replaced && (replaced.folder || item.folder)) return void refuse(response, 409, 'InvalidDestinationPath');
    for (const [name, moved] of [...this.items])
      if (name === from || name.startsWith(`${from}/`)) {
        this.items.delete(name);
        this.items.set(to + name.slice(from.length), moved);
      }
    response.writeHead(201).end();
  }

  #patch(response: ServerResponse, item: FakeItem, query: URLSearchParams, body: Buffer): void {
    const position = Number(query.get('position'));
    if (query.get('action') === 'append') {
      item.appended.set(position, body);
      return void response.writeHead(202).end();
    }
    for (let piece = item.appended.get(item.bytes.length); piece; piece = item.appended.get(item.bytes.length)) {
      item.appended.delete(item.bytes.length);
      item.bytes = Buffer.concat([item.bytes, piece]);
    }
    if (position !== item.bytes.length) return void refuse(response, 400, 'InvalidFlushPosition');
    this.#changes += 1;
    Object.assign(item, { etag: `"0x${this.#changes}"`, modified: new Date() });
    response.end();
  }

  #delete(response: ServerResponse, path: string, { folder }: FakeItem, query: URLSearchParams): void {
    if (!folder && query.has('recursive')) return void refuse(response, 400, 'InvalidQueryParameterValue');
    const inner = [...this.items.keys()].filter((name) => name.startsWith(`${path}/`));
    if (folder && query.get('recursive') !== 'true') return void refuse(response, 409, 'DirectoryNotEmpty');
    for (const name of [path, ...inner]) this.items.delete(name);
    response.end();
  }

  #read({ method, headers }: IncomingMessage, response: ServerResponse, { folder, bytes, modified, etag }: FakeItem): void {
    response.setHeader('x-ms-resource-type', folder ? 'directory' : 'file');
    response.setHeader('last-modified', modified.toUTCString()).setHeader('etag', etag);
    if (headers['if-match'] !== undefined && headers['if-match'] !== etag) return void refuse(response, 412, 'ConditionNotMet');
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
    if (method === 'HEAD' || first === undefined)
      return void response.setHeader('content-length', bytes.length).end(method === 'HEAD' ? '' : bytes);
    if (Number(first) >= bytes.length) return void refuse(response, 416, 'InvalidRange');
    const piece = bytes.subarray(Number(first), Number(last) + 1);
    response.writeHead(206, { 'content-range': `bytes ${first}-${Number(first) + piece.length - 1}/${bytes.length}` }).end(piece);
  }
}

const parentOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')));

function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'x-ms-error-code': code }).end();
}
