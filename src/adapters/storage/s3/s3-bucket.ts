import { AwsV4Signer } from 'aws4fetch';
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
import { readXml, type XmlElement } from '#adapters/storage/objects/xml.ts';
import type { GroupMemory } from '#core/memory-budget.ts';
import type { S3Configuration } from '#core/records/location-configurations.ts';
import type { Outbound, OutboundResponse } from '#ports/outbound.ts';
import type { SignedHeaders } from '#ports/storage.ts';
import { OutcomeUnknown } from '#ports/storage-errors.ts';
import type { AccessKey } from './machine-credentials.ts';
import { bucketAddress } from './s3-address.ts';
import { s3CodeOf, s3Error, storingError } from './s3-errors.ts';
import { md5Codes, md5Of, storesObject, withoutConditions } from './s3-request.ts';

/** A bucket at a service that speaks the S3 protocol. */
export class S3Bucket {
  readonly name: string;
  /** Identifies the bucket, by its endpoint and name. Does not depend on `pathStyle`. */
  readonly identity: string;
  /** Memory for long lists of the tenant. */
  readonly memory: GroupMemory;
  /** ms. */
  readonly monotonic: () => number;
  readonly #address: string;
  /** The address that browsers use. */
  readonly #publicAddress: string;
  readonly #configuration: S3Configuration;
  readonly #tid: number;
  readonly #accessKey: () => Promise<AccessKey>;
  readonly #outbound: Pick<Outbound, 'request'>;
  /** true: the bucket has refused a body without a checksum, so each body gets one. */
  #sendsMd5 = false;

  constructor(
    configuration: S3Configuration,
    tid: number,
    accessKey: () => Promise<AccessKey>,
    outbound: Pick<Outbound, 'request'>,
    memory: GroupMemory,
    monotonic: () => number = () => performance.now(),
  ) {
    this.#tid = tid;
    this.#accessKey = accessKey;
    const { endpoint = `https://s3.${configuration.region}.amazonaws.com`, publicEndpoint = endpoint, bucket } = configuration;
    this.name = bucket;
    this.identity = `${new URL(endpoint).origin} ${bucket}`;
    this.#address = bucketAddress(configuration, endpoint);
    this.#publicAddress = bucketAddress(configuration, publicEndpoint);
    this.#configuration = configuration;
    this.#outbound = outbound;
    this.memory = memory;
    this.monotonic = monotonic;
  }

  /**
   * Sends a signed request about a key; '' is the bucket. May send it again after a failure.
   * @returns the response, if it is a success or has an expected status
   * @throws StorageUnavailable; OutcomeUnknown for a change that may have taken place; the reason of the signal
   */
  async send(method: Method, key: string, request: ServiceRequest = {}): Promise<OutboundResponse> {
    return sendWithRetries(method, request, (signal) => this.#sendOnce(method, key, request, signal));
  }

  /** Sends a request and reads its response to the end. @returns the response without its body */
  async sendAndRead(method: Method, key: string, request?: ServiceRequest): Promise<OutboundResponse> {
    const response = await this.send(method, key, request);
    await skipBody(method, response);
    return response;
  }

  /**
   * Sends a request for an object, or a part of it.
   * @returns null if there is none
   * @throws StorageUnavailable, also if there is no bucket
   */
  async sendForObject(key: string, request: ServiceRequest = {}): Promise<OutboundResponse | null> {
    const response = await this.send('GET', key, { ...request, expected: [404, ...(request.expected ?? [])] });
    if (response.status !== 404) return response;
    const code = await this.#codeIn(response);
    if (code === 'NoSuchBucket') throw s3Error(404, code);
    return null;
  }

  /** Sends a request that stores an object or a part, and reads its response. @throws OutcomeUnknown also for a success without ETag */
  async store(key: string, request: ServiceRequest): Promise<OutboundResponse> {
    const response = await this.sendAndRead('PUT', key, request);
    if (response.status < 300 && !response.headers['etag'])
      throw new OutcomeUnknown('the service did not confirm that it has stored an object');
    return response;
  }

  /**
   * Sends a request whose response is XML.
   * @param root name of its document element
   * @throws StorageUnavailable also for an error in a response with status 200, as for a copy or a completed upload
   */
  async sendForXml(method: Method, key: string, root: string, request: XmlRequest = {}): Promise<XmlElement> {
    return this.#readDocument(method, root, await this.send(method, key, request), request);
  }

  /** As `sendForXml`. Returns null for an expected status. */
  async sendForXmlOrNull(method: Method, key: string, root: string, request: ServiceRequest): Promise<XmlElement | null> {
    const response = await this.send(method, key, request);
    if (response.status < 300) return this.#readDocument(method, root, response);
    await skipBody(method, response);
    return null;
  }

  #readDocument(method: Method, root: string, response: OutboundResponse, request?: XmlRequest): Promise<XmlElement> {
    const errorOf = (document: XmlElement) => (document.name === 'Error' ? s3Error(response.status, s3CodeOf(document)) : null);
    return readDocument(method, root, response, errorOf, this.monotonic, request);
  }

  /** Returns an address at which a browser can download an object. @param lifetime seconds */
  async signAddress(key: string, { contentType, contentDisposition }: SignedHeaders, lifetime: number): Promise<string> {
    const query = {
      'X-Amz-Expires': `${lifetime}`,
      'response-cache-control': 'private, no-store',
      'response-content-disposition': contentDisposition,
      'response-content-type': contentType,
    };
    const url = `${this.#publicAddress}${encodeKey(key)}?${encodeQuery(query)}`;
    return (await new AwsV4Signer({ ...(await this.#signing()), method: 'GET', url, signQuery: true }).sign()).url.href;
  }

  /** Returns the options of the signer of a request. @throws StorageUnavailable */
  async #signing() {
    const { accessKeyId, secretAccessKey, sessionToken } = await this.#accessKey();
    const { region } = this.#configuration;
    return { region, accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }), service: 's3' };
  }

  /** Returns the code of an error that a response describes; 'no code' if the response is not XML. */
  #codeIn({ body }: OutboundResponse): Promise<string> {
    return readXml(body, this.monotonic).then(s3CodeOf, () => 'no code');
  }

  async #sendOnce(method: Method, key: string, request: ServiceRequest, signal: AbortSignal | undefined): Promise<OutboundResponse> {
    const hadMd5 = this.#sendsMd5;
    const response = await this.#exchange(method, key, request, signal);
    if (response.status < 300 || request.expected?.includes(response.status)) return response;
    const headers = withoutConditions(request);
    if (response.status === 501 && headers !== null && mayChange(method)) {
      await skipBody(method, response);
      return this.#sendOnce(method, key, { ...request, headers }, signal); // the service does not support conditions
    }
    const cause = s3Error(response.status, await this.#codeIn(response));
    if (!hadMd5 && request.body !== undefined && md5Codes.includes(cause.code)) {
      this.#sendsMd5 = true;
      return this.#sendOnce(method, key, request, signal);
    }
    if (response.status >= 500 && mayChange(method)) throw new OutcomeUnknown(cause.message, { cause });
    throw storesObject(method, request) ? storingError(cause) : cause;
  }

  async #exchange(method: Method, key: string, request: ServiceRequest, signal: AbortSignal | undefined): Promise<OutboundResponse> {
    const { query = {}, headers = {}, body } = request;
    const url = `${this.#address}${encodeKey(key)}?${encodeQuery(query)}`;
    const md5 = body !== undefined && this.#sendsMd5 ? { 'content-md5': await md5Of(body) } : {};
    const signedRequest = await new AwsV4Signer({ ...(await this.#signing()), method, url, headers: { ...md5, ...headers } }).sign();
    const { url: signedUrl, headers: signedHeaders } = signedRequest;
    return sendSigned(this.#outbound, this.#tid, method, { url: signedUrl, headers: Object.fromEntries(signedHeaders) }, request, signal);
  }
}
