import pLimit from 'p-limit';
import { encodeText } from '#adapters/storage/objects/encode-key.ts';
import { type CodeMeaning, type Method, mayChange, ServiceError, serviceErrorOf } from '#adapters/storage/objects/service-errors.ts';
import { type ServiceRequest, sendSigned, sendWithRetries, skipBody } from '#adapters/storage/objects/service-request.ts';
import type { WebdavConfiguration } from '#core/records/location-configurations.ts';
import type { Outbound, OutboundResponse } from '#ports/outbound.ts';
import { ChangeImpossible, OutcomeUnknown, StorageFull, StorageUnavailable } from '#ports/storage-errors.ts';
import { WebdavAuth } from './webdav-auth.ts';

/** What the errors of a server mean, by status. */
const meanings: Readonly<Record<number, CodeMeaning>> = {
  401: { explanation: 'the user name, the password or the token is wrong', isSignIn: true },
  403: { explanation: 'the user may not do this' },
  404: { explanation: 'there is no such folder' },
  405: { explanation: 'the address is not that of a WebDAV server' },
  429: { isThrottling: true },
  503: { isThrottling: true },
};

const multiStatus = 207; // RFC 4918, 9.6.1: some items were not deleted
const [maxRequests, maxBodies] = [16, 8]; // changes at a time; files that are sent at a time
const schemeTimeLimit = 30_000; // ms

/** A WebDAV server (RFC 4918), and the folder of a location in it. */
export class WebdavServer {
  /** URL of the folder of the location, with a slash at its end. */
  readonly root: URL;
  /** Returns a monotonic time in ms. */
  readonly monotonic: () => number;
  readonly #auth: WebdavAuth;
  readonly #outbound: Pick<Outbound, 'request'>;
  readonly #tid: number;
  /** Small servers close connections if there are many. */
  readonly #limit = pLimit(maxRequests);
  readonly #bodyLimit = pLimit(maxBodies);
  #schemeRequest: Promise<void> | null = null;
  #movesByPath = false;

  constructor(configuration: WebdavConfiguration, tid: number, outbound: Pick<Outbound, 'request'>, monotonic: () => number) {
    const { url, root = '' } = configuration;
    const segments = root.split('/').filter((segment) => segment !== '');
    this.root = new URL(`${url.replace(/\/+$/, '')}/${segments.map((segment) => `${encodeText(segment)}/`).join('')}`);
    this.#auth = new WebdavAuth(configuration);
    this.#outbound = outbound;
    this.#tid = tid;
    this.monotonic = monotonic;
  }

  /** Returns the URL of a file; or of a folder, with a slash at its end. */
  urlOf(path: readonly string[], isFolder = false): URL {
    const encodedPath = path.map(encodeText).join('/');
    return new URL(isFolder && encodedPath !== '' ? `${encodedPath}/` : encodedPath, this.root);
  }

  /**
   * Sends a request. May send it again after a failure.
   * @returns the response, if it is a success or has an expected status
   * @throws StorageUnavailable; OutcomeUnknown for a change that may have taken place; StorageFull, ChangeImpossible; the reason of the
   * signal
   */
  send(method: Method, url: URL, request: ServiceRequest = {}): Promise<OutboundResponse> {
    return sendWithRetries(method, request, (signal) => this.#sendOnce(method, url, request, signal));
  }

  /** Sends a request and reads its response to the end. @returns the response without its body */
  async sendAndRead(method: Method, url: URL, request?: ServiceRequest): Promise<OutboundResponse> {
    const limit = typeof request?.body === 'object' ? this.#bodyLimit : this.#limit;
    return limit(async () => {
      const response = await this.send(method, url, request);
      await skipBody(method, response);
      return response;
    });
  }

  /** Moves an item. Some servers behind a proxy accept only a destination without a host (RFC 4918, 10.3). */
  async move(from: URL, to: URL, request: ServiceRequest): Promise<OutboundResponse> {
    const send = (destination: string) => this.sendAndRead('MOVE', from, { ...request, headers: { ...request.headers, destination } });
    if (this.#movesByPath) return send(to.pathname);
    try {
      return await send(to.href);
    } catch (cause) {
      if (serviceErrorOf(cause)?.status !== 502) throw cause;
      const response = await send(to.pathname); // if the server has moved the item in spite of 502, this request finds nothing to move
      if (response.status < 300) this.#movesByPath = true;
      return response;
    }
  }

  /** Returns the error of a response that is not a success. */
  errorOf(status: number): ServiceError {
    return new ServiceError(status, 'WebDAV', meanings[status]);
  }

  async #sendOnce(method: Method, url: URL, request: ServiceRequest, signal: AbortSignal | undefined): Promise<OutboundResponse> {
    if (this.#auth.isSchemeUnknown) await this.#findScheme();
    const { version } = this.#auth;
    let response = await this.#exchange(method, url, request, signal);
    if (response.status === 401 && this.#auth.accept(response.headers['www-authenticate'] ?? '', version)) {
      response.discard();
      response = await this.#exchange(method, url, request, signal);
    }
    const { status } = response;
    if (status === multiStatus && method === 'DELETE') {
      response.discard();
      throw new StorageUnavailable('the server has deleted the folder only in part');
    }
    if (status < 300 || request.expected?.includes(status)) return response;
    response.discard();
    if (status === 507 && method !== 'MOVE') throw new StorageFull('the server has no space left');
    if (status === 413 && method === 'PUT') throw new ChangeImpossible('The server does not accept files of this size');
    const cause = this.errorOf(status);
    throw status >= 500 && status !== 503 && mayChange(method) ? new OutcomeUnknown(cause.message, { cause }) : cause;
  }

  /** Finds out how the server wants clients to sign in, with a request that has no body and no credentials. */
  async #findScheme(): Promise<void> {
    this.#schemeRequest ??= this.#exchange('PROPFIND', this.root, { headers: { depth: '0' } }, AbortSignal.timeout(schemeTimeLimit))
      .then((response) => {
        if (response.status === 401) this.#auth.accept(response.headers['www-authenticate'] ?? '', 0);
        response.discard();
      })
      .finally(() => {
        this.#schemeRequest = null;
      });
    await this.#schemeRequest;
  }

  async #exchange(method: Method, url: URL, request: ServiceRequest, signal: AbortSignal | undefined): Promise<OutboundResponse> {
    const authorization = this.#auth.header(method, url.pathname + url.search);
    const headers = { ...request.headers, ...(authorization === null ? {} : { authorization }) };
    return sendSigned(this.#outbound, this.#tid, method, { url, headers }, request, signal);
  }
}
