import { encodeKey, encodeQuery } from '#adapters/storage/objects/encode-key.ts';
import { type Method, mayChange } from '#adapters/storage/objects/service-errors.ts';
import {
  readDocument,
  type ServiceRequest,
  sendSigned,
  sendWithRetries,
  skipBody,
  type XmlRequest,
} from '#adapters/storage/objects/service-request.ts';
import type { XmlElement } from '#adapters/storage/objects/xml.ts';
import type { Outbound, OutboundResponse } from '#ports/outbound.ts';
import { OutcomeUnknown, StorageUnavailable } from '#ports/storage-errors.ts';
import type { AzureAddress } from './azure-address.ts';
import type { AuthorizeRequest } from './azure-credentials.ts';
import { azureError, flatNamespaceError, hierarchicalNamespaceError, isExpected, rethrowReadError } from './azure-errors.ts';
import { serviceVersion } from './shared-key.ts';

const accountTimeLimit = 30_000; // ms

export interface ContainerServices {
  readonly outbound: Pick<Outbound, 'request'>;
  readonly tid: number;
  /** ms, monotonic. */
  readonly monotonic: () => number;
  /** ms since the epoch. */
  readonly now: () => number;
}

/** A container of Azure Blob Storage, at the Blob service or at the Data Lake service of the account. */
export class AzureContainer {
  readonly address: AzureAddress;
  /** ms. */
  readonly monotonic: () => number;
  readonly #authorize: AuthorizeRequest;
  readonly #services: ContainerServices;
  readonly #isHierarchical: boolean;
  /** true: the namespace of the account is as expected, or the service does not reveal it. The account is not checked again. */
  #isAccountChecked = false;

  /** @param isHierarchical true: the requests go to the Data Lake service, and the account must have a hierarchical namespace */
  constructor(address: AzureAddress, authorize: AuthorizeRequest, services: ContainerServices, isHierarchical = false) {
    this.address = address;
    this.#isHierarchical = isHierarchical;
    this.#authorize = authorize;
    this.#services = services;
    this.monotonic = services.monotonic;
  }

  /**
   * Sends an authorized request about a blob; the key '' means the container. May send it again after a failure.
   * @returns the response, if it is a success or has an expected status
   * @throws StorageUnavailable; OutcomeUnknown for a change that may have taken place; ChangeImpossible; the reason of the signal
   */
  send(method: Method, key: string, request: ServiceRequest = {}): Promise<OutboundResponse> {
    return sendWithRetries(method, request, async (signal) => {
      await this.#checkAccount();
      return this.#sendOnce(method, key, request, signal);
    });
  }

  /** Requests the content of a blob. @returns the response as for `send`, or null if there is no blob @throws ItemArchived */
  async get(key: string, request: ServiceRequest): Promise<OutboundResponse | null> {
    const response = await this.send('GET', key, request).catch(rethrowReadError);
    if (response.status !== 404) return response;
    response.discard();
    return null;
  }

  /** Sends a request and reads its response to the end. @returns the response without its body */
  async sendAndRead(method: Method, key: string, request?: ServiceRequest): Promise<OutboundResponse> {
    const response = await this.send(method, key, request);
    await skipBody(method, response);
    return response;
  }

  /** Sends a request whose response is XML. @param root name of its document element */
  async sendForXml(key: string, root: string, request: XmlRequest): Promise<XmlElement> {
    return readDocument('GET', root, await this.send('GET', key, request), () => null, this.#services.monotonic, request);
  }

  /** Returns the URL of a blob; for '', of the container. */
  urlOf(key: string): string {
    const { containerUrl, dataLakeUrl } = this.address;
    const url = this.#isHierarchical ? dataLakeUrl : containerUrl;
    return key === '' ? url : `${url}/${encodeKey(key)}`;
  }

  /** Returns the path of a file or folder for the header `x-ms-rename-source`. */
  renameSource(key: string): Promise<string> {
    return this.#withToken(key, `/${encodeKey(`${this.address.container}/${key}`)}`);
  }

  /** Returns the URL with which the service itself can read a blob to copy it. */
  sourceUrl(key: string): Promise<string> {
    return this.#withToken(key, this.urlOf(key));
  }

  /** Adds the SAS token, if there is one, to an address of a blob that the service itself reads. */
  async #withToken(key: string, address: string): Promise<string> {
    const { query } = await this.#authorize({ method: 'GET', url: new URL(this.urlOf(key)), query: {}, headers: {} });
    return Object.keys(query).length === 0 ? address : `${address}?${encodeQuery(query)}`;
  }

  /** Refuses an account whose namespace is not of the expected kind. @throws StorageUnavailable */
  async #checkAccount(): Promise<void> {
    if (this.#isAccountChecked) return;
    const request = { query: { restype: 'account', comp: 'properties' } };
    const response = await this.#exchange('HEAD', this.address.containerUrl, request, AbortSignal.timeout(accountTimeLimit));
    await skipBody('HEAD', response); // throws no error for its status: the request itself will get the same error
    const { 'x-ms-is-hns-enabled': hasHierarchy } = response.headers;
    if (hasHierarchy === 'true' && !this.#isHierarchical) throw hierarchicalNamespaceError();
    if (hasHierarchy === 'false' && this.#isHierarchical) throw flatNamespaceError();
    // With a status such as 403, the credentials do not permit reading the property. Then the first directory in a response reveals a
    // hierarchical namespace.
    this.#isAccountChecked = response.status < 500 && response.status !== 429;
  }

  async #sendOnce(method: Method, key: string, request: ServiceRequest, signal: AbortSignal | undefined): Promise<OutboundResponse> {
    const response = await this.#exchange(method, this.urlOf(key), request, signal);
    if (response.status < 300 || isExpected(response, request.expected)) return response;
    response.discard();
    const cause = azureError(method, response);
    const mayHaveHappened = response.status >= 500 && mayChange(method) && cause instanceof StorageUnavailable;
    throw mayHaveHappened ? new OutcomeUnknown(cause.message, { cause }) : cause;
  }

  async #exchange(method: Method, address: string, request: ServiceRequest, signal: AbortSignal | undefined): Promise<OutboundResponse> {
    const { outbound, tid, now } = this.#services;
    const { body } = request;
    const length = typeof body === 'string' ? Buffer.byteLength(body) : (body?.length ?? 0);
    const headers = {
      ...{ 'x-ms-date': new Date(now()).toUTCString(), 'x-ms-version': serviceVersion, ...request.headers },
      ...(length > 0 ? { 'content-length': `${length}` } : {}),
    };
    const url = new URL(address);
    const authorized = await this.#authorize({ method, url, query: request.query ?? {}, headers });
    // The HTTP client computes the length of the body itself.
    const { 'content-length': _, ...sentHeaders } = authorized.headers;
    return sendSigned(
      outbound,
      tid,
      method,
      { url: new URL(`${url.href}?${encodeQuery(authorized.query)}`), headers: sentHeaders },
      request,
      signal,
    );
  }
}
