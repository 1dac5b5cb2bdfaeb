import { ItemArchived, ItemChanged, ItemExists, StorageUnavailable } from '#ports/storage.ts';
import { encodeKey } from './s3-address.ts';
import type { S3Bucket } from './s3-bucket.ts';
import { codeOf, serviceErrorOf } from './s3-errors.ts';
import { md5Of, type S3Request } from './s3-request.ts';
import { childrenOf, childText, type XmlLimits, xmlText } from './s3-xml.ts';

/** Header in which Postern notes the token of the change that wrote an object. */
export const tokenHeader = 'x-amz-meta-postern-token';

const namesPerDeletion = 1000;
/** Of the response to a deletion in which each name has an error. */
const errorLimits: XmlLimits = { bytes: 4 << 20, elements: 10_000 };
const maxCopy = 2 ** 30; // bytes that one request copies: some services accept less than 5 GiB, as Amazon S3 does
const requestsAtOnce = 16;
const slowTimeLimit = 600_000; // ms: a service may copy or join gigabytes before it responds
const maxEtag = 256; // characters
const maxUploadId = 4096; // characters
const archiveClasses = ['GLACIER', 'DEEP_ARCHIVE'];
const copiedHeaders = /^(content-(type|disposition|encoding|language)|cache-control|expires|x-amz-storage-class|x-amz-meta-.+)$/;

/** An object in a bucket. */
export interface S3Object {
  readonly key: string;
  readonly size: number;
  /** ms since the epoch, whole seconds: a listing is more exact than a response to HEAD. */
  readonly modified: number;
  readonly etag: string;
  /** Whether it is in a storage class from which an object must be restored before it can be read. It may be restored already. */
  readonly mayBeArchived: boolean;
}

/** An object as HEAD describes it. */
export interface S3Description extends S3Object {
  /** Token of the change that wrote it, or null. */
  readonly token: string | null;
  /** The headers that a copy keeps. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns a time in whole seconds: a listing is more exact than a response to HEAD. */
const truncateToSeconds = (time: number) => Math.floor(time / 1000) * 1000;

/** Returns the time of an object in ms, in whole seconds. @throws StorageUnavailable if it is none */
export function timeOf(text: string): number {
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new StorageUnavailable('the service sent an object without a time');
  return truncateToSeconds(time);
}

/** Returns a size in bytes. @throws StorageUnavailable if it is none */
export function sizeOf(text: string): number {
  const size = /^\d{1,16}$/.test(text) ? Number(text) : null;
  if (size === null) throw new StorageUnavailable('the service sent an object without a size');
  return size;
}

/** Returns an ETag. @throws StorageUnavailable if it is too long */
export function etagOf(text = ''): string {
  if (text.length > maxEtag) throw new StorageUnavailable('the service sent an ETag that is too long');
  return text;
}

/** Returns whether an object in a storage class may have to be restored before it can be read. */
export const isArchiveClass = (storageClass = ''): boolean => archiveClasses.includes(storageClass);

/**
 * Returns the value of a header for a copy. Only ASCII can be signed, so other values of `x-amz-meta-` are encoded as Amazon S3 does
 * it (RFC 2047), and other headers with such values are left out.
 * @param value its bytes, each as one character
 */
function copiedValue(name: string, value: string): string | null {
  if (/^[\x20-\x7e]*$/.test(value)) return value;
  return name.startsWith('x-amz-meta-') ? `=?UTF-8?B?${Buffer.from(value, 'latin1').toString('base64')}?=` : null;
}

/** Returns the description of an object, or null if there is none. */
export async function describeObject(bucket: S3Bucket, key: string): Promise<S3Description | null> {
  const response = await bucket.sendAndRead('HEAD', key, { expected: [404] });
  if (response.status !== 200) return null;
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers)) {
    const copied = copiedHeaders.test(name) ? copiedValue(name, value) : null;
    if (copied !== null) headers[name] = copied;
  }
  return {
    key,
    size: sizeOf(response.headers['content-length'] ?? ''),
    modified: timeOf(response.headers['last-modified'] ?? ''),
    etag: etagOf(response.headers['etag']),
    mayBeArchived: isArchiveClass(response.headers['x-amz-storage-class']),
    token: headers[tokenHeader] ?? null,
    headers,
  };
}

/**
 * Creates an empty object, such as a folder or a claim, unless there is an object. Services that do not know the condition replace it.
 * @param token of the change, which the object notes
 * @returns false if there is an object
 */
export async function createEmptyObject(bucket: S3Bucket, key: string, token?: string): Promise<boolean> {
  const headers = { 'if-none-match': '*', ...(token === undefined ? {} : { [tokenHeader]: token }) };
  return (await bucket.store(key, { headers, body: '', expected: [409, 412] })).status < 300;
}

/** Sends a request that deletes objects. @returns the codes of its errors */
async function sendDeletion(bucket: S3Bucket, objects: readonly string[]): Promise<readonly string[]> {
  const body = `<Delete><Quiet>true</Quiet>${objects.join('')}</Delete>`;
  const headers = { 'content-md5': await md5Of(body) };
  using memory = bucket.memory.begin();
  const request = { query: { delete: '' }, headers, body, repeatable: true, limits: errorLimits, memory };
  return childrenOf(await bucket.sendForXml('POST', '', 'DeleteResult', request), 'Error').map(codeOf);
}

/** Deletes objects in batches. @throws StorageUnavailable if one of them cannot be deleted, unless its error is harmless */
async function deleteInBatches(bucket: S3Bucket, objects: readonly string[], harmlessCode: string | null): Promise<void> {
  for (let start = 0; start < objects.length; start += namesPerDeletion) {
    const errors = await sendDeletion(bucket, objects.slice(start, start + namesPerDeletion));
    const error = errors.find((code) => code !== harmlessCode);
    if (error !== undefined) throw new StorageUnavailable(`the service cannot delete an object (${error})`);
  }
}

/** Deletes objects. Absent ones are no error. @throws StorageUnavailable if one of them cannot be deleted */
export const deleteObjects = (bucket: S3Bucket, keys: readonly string[]): Promise<void> =>
  deleteInBatches(
    bucket,
    keys.map((key) => `<Object><Key>${xmlText(key)}</Key></Object>`),
    null,
  );

/**
 * Deletes objects that are still in the given versions. Services that do not know this condition ignore it, or refuse the request.
 * @throws StorageUnavailable if one of them cannot be deleted
 */
export async function deleteUnchanged(bucket: S3Bucket, versions: readonly Pick<S3Object, 'key' | 'etag'>[]): Promise<void> {
  const objects = versions.map(({ key, etag }) => `<Object><Key>${xmlText(key)}</Key><ETag>${xmlText(etag)}</ETag></Object>`);
  await deleteInBatches(bucket, objects, 'PreconditionFailed').catch((cause: unknown) => {
    if (![400, 501].includes(serviceErrorOf(cause)?.status ?? 0)) throw cause;
    return deleteObjects(
      bucket,
      versions.map(({ key }) => key),
    );
  });
}

/** Starts a multipart upload. @returns its id */
export async function startMultipart(bucket: S3Bucket, key: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const request = { query: { uploads: '' }, headers };
  const id = childText(await bucket.sendForXml('POST', key, 'InitiateMultipartUploadResult', request), 'UploadId');
  if (!id || id.length > maxUploadId) throw new StorageUnavailable('the service started no upload');
  return id;
}

/**
 * Completes a multipart upload.
 * @param etags of the parts, in order
 * @param condition headers
 * @returns false if the condition is not met
 */
export async function completeMultipart(
  bucket: S3Bucket,
  key: string,
  uploadId: string,
  etags: readonly string[],
  condition: Readonly<Record<string, string>> = {},
): Promise<boolean> {
  const parts = etags.map((etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${xmlText(etag)}</ETag></Part>`);
  const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
  const request = { query: { uploadId }, headers: condition, body, expected: [409, 412], timeLimit: slowTimeLimit };
  return (await bucket.sendForXmlOrNull('POST', key, 'CompleteMultipartUploadResult', request)) !== null;
}

/** Ends a multipart upload without a result. An upload that has ended already is no error. */
export const abortMultipart = async (bucket: S3Bucket, key: string, uploadId: string): Promise<void> =>
  void (await bucket.sendAndRead('DELETE', key, { query: { uploadId }, expected: [404], repeatable: true }));

/**
 * Runs work for each item, sixteen at a time. After a failure it waits for the work that has begun: no request may change something later.
 * @returns the results in the order of the items
 */
export async function mapInBatches<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += requestsAtOnce) {
    const batch = items.slice(start, start + requestsAtOnce).map(work);
    await Promise.allSettled(batch);
    results.push(...(await Promise.all(batch)));
  }
  return results;
}

/** Throws the error of a request that reads an object. @throws ItemArchived if the object must be restored first; the cause */
export function throwIfArchived(cause: unknown): never {
  if (serviceErrorOf(cause)?.code === 'InvalidObjectState') throw new ItemArchived('the object is archived', { cause });
  throw cause;
}

/** Sends a request that copies an object or a part of it. @returns the ETag of the copy. @throws ItemChanged if the source has changed; ItemArchived */
async function sendCopy(bucket: S3Bucket, to: string, request: S3Request): Promise<string> {
  const copy = { ...request, expected: [404, 409, 412], timeLimit: slowTimeLimit };
  const isPart = request.query !== undefined;
  const root = isPart ? 'CopyPartResult' : 'CopyObjectResult';
  const document = await bucket.sendForXmlOrNull('PUT', to, root, { ...copy, repeatable: isPart }).catch(throwIfArchived);
  if (!document) {
    const isTaken = 'if-none-match' in (request.headers ?? {}) && (await describeObject(bucket, to)) !== null;
    throw isTaken ? new ItemExists('there is an object with this key') : new ItemChanged('the object to copy has changed');
  }
  return childText(document, 'ETag') ?? '';
}

/**
 * Copies an object, with all that describes it, and notes the token of the change.
 * @param overwrites whether the copy may replace an object. Services that do not know the condition replace it always
 * @param maxBytes that one request copies
 * @throws ItemChanged if the object has changed since it was described; ItemExists if there is an object
 */
export async function copyObject(
  bucket: S3Bucket,
  from: S3Description,
  to: string,
  { token, overwrites, maxBytes = maxCopy }: { readonly token: string; readonly overwrites: boolean; readonly maxBytes?: number },
): Promise<void> {
  const condition: Readonly<Record<string, string>> = overwrites ? {} : { 'if-none-match': '*' };
  const source = { 'x-amz-copy-source': `/${encodeKey(`${bucket.name}/${from.key}`)}`, 'x-amz-copy-source-if-match': from.etag };
  const described = { ...from.headers, [tokenHeader]: token };
  if (from.size <= maxBytes) {
    const headers = { ...described, ...source, ...condition, 'x-amz-metadata-directive': 'REPLACE' };
    return void (await sendCopy(bucket, to, { headers }));
  }
  const uploadId = await startMultipart(bucket, to, described);
  try {
    const starts = Array.from({ length: Math.ceil(from.size / maxBytes) }, (_, index) => index * maxBytes);
    const etags = await mapInBatches(starts, async (start) => {
      const range = `bytes=${start}-${Math.min(start + maxBytes, from.size) - 1}`;
      const query = { partNumber: `${start / maxBytes + 1}`, uploadId };
      return sendCopy(bucket, to, { query, headers: { ...source, 'x-amz-copy-source-range': range } });
    });
    if (await completeMultipart(bucket, to, uploadId, etags, condition)) return;
    throw overwrites ? new StorageUnavailable('the service did not complete the copy') : new ItemExists('there is an object with this key');
  } catch (cause) {
    await abortMultipart(bucket, to, uploadId).catch(() => {});
    throw cause;
  }
}
