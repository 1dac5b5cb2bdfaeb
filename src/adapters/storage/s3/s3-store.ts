import { checkedEtag } from '#adapters/storage/objects/list-pages.ts';
import type {
  ObjectDescription,
  ObjectRange,
  ObjectStore,
  ObjectVersion,
  PartsOptions,
  PutOptions,
  WriteCondition,
} from '#adapters/storage/objects/object-store.ts';
import { bodyTimeLimit, conditionFailedStatuses, rangeRequest } from '#adapters/storage/objects/service-request.ts';
import type { OutboundBody, OutboundResponse } from '#ports/outbound.ts';
import type { Confirm, SignedHeaders } from '#ports/storage.ts';
import { ItemChanged } from '#ports/storage-errors.ts';
import type { S3Bucket } from './s3-bucket.ts';
import { S3Conditions } from './s3-conditions.ts';
import { hasKeys, isS3KeyTooLong, listKeys } from './s3-list.ts';
import {
  abortMultipart,
  completeMultipart,
  copyObject,
  deleteObjects,
  deleteUnchanged,
  describeObject,
  rethrowReadError,
  startMultipart,
  tokenHeader,
} from './s3-objects.ts';

export class S3Store implements ObjectStore {
  readonly versionHeader = 'x-amz-version-id';
  readonly ignoresVersions = true;
  readonly deletesByUrl = false;
  readonly #bucket: S3Bucket;
  readonly #conditions: S3Conditions;

  /** @param testKey returns the key of an object with which `S3Conditions` tests what the service supports */
  constructor(bucket: S3Bucket, testKey: () => string) {
    this.#bucket = bucket;
    this.#conditions = new S3Conditions(bucket, testKey);
  }

  get identity() {
    return `s3 ${this.#bucket.identity}`;
  }

  get memory() {
    return this.#bucket.memory;
  }

  get monotonic() {
    return this.#bucket.monotonic;
  }

  readonly signAddress = (key: string, headers: SignedHeaders, lifetime: number): Promise<string> =>
    this.#bucket.signAddress(key, headers, lifetime);

  isKeyTooLong(key: string) {
    return isS3KeyTooLong(key);
  }

  list(prefix: string, delimiter?: '' | '/') {
    return listKeys(this.#bucket, prefix, delimiter);
  }

  hasKeys(prefix: string) {
    return hasKeys(this.#bucket, prefix);
  }

  describe(key: string) {
    return describeObject(this.#bucket, key);
  }

  get(key: string, range: ObjectRange = {}): Promise<OutboundResponse | null> {
    const query = range.version === undefined ? {} : { query: { versionId: range.version } };
    return this.#bucket.sendForObject(key, { ...rangeRequest(range), ...query }).catch(rethrowReadError);
  }

  async put(key: string, body: string | OutboundBody, { token, condition = 'none', repeatable = false }: PutOptions = {}) {
    const headers = { ...(token === undefined ? {} : { [tokenHeader]: token }), ...(await this.#headersOf(condition)) };
    const limit = typeof body === 'string' ? {} : { timeLimit: bodyTimeLimit };
    const expected = conditionFailedStatuses(condition);
    return (await this.#bucket.store(key, { headers, body, expected, repeatable, ...limit })).status < 300;
  }

  delete(keys: readonly string[]) {
    return deleteObjects(this.#bucket, keys);
  }

  deleteUnchanged(objects: readonly ObjectVersion[], confirm?: Confirm) {
    return deleteUnchanged(this.#bucket, objects, confirm);
  }

  copy(from: ObjectDescription, to: string, options: { readonly token: string; readonly overwrites: boolean }) {
    return copyObject(this.#bucket, from, to, options);
  }

  startParts(key: string, token: string) {
    return startMultipart(this.#bucket, key, { [tokenHeader]: token });
  }

  async putPart(key: string, uploadId: string, number: number, body: OutboundBody): Promise<string> {
    const query = { partNumber: `${number}`, uploadId };
    const response = await this.#bucket.store(key, { query, body, expected: [404], timeLimit: bodyTimeLimit, repeatable: true });
    if (response.status >= 300) throw new ItemChanged('the service has ended the upload');
    return checkedEtag(response.headers['etag']);
  }

  async joinParts(key: string, uploadId: string, parts: readonly string[], { condition }: PartsOptions): Promise<boolean> {
    return completeMultipart(this.#bucket, key, uploadId, parts, await this.#headersOf(condition));
  }

  abortParts(key: string, uploadId: string) {
    return abortMultipart(this.#bucket, key, uploadId);
  }

  async #headersOf(condition: WriteCondition): Promise<Readonly<Record<string, string>>> {
    if (condition === 'none') return {};
    return condition === 'absent' ? this.#conditions.ifAbsent : this.#conditions.ifMatches(condition.etag);
  }
}
