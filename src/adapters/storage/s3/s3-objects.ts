import { encodeKey } from '#adapters/storage/objects/encode-key.ts';
import { checkedEtag, objectFromHeaders } from '#adapters/storage/objects/list-pages.ts';
import { mapInBatches } from '#adapters/storage/objects/map-in-batches.ts';
import type { ObjectDescription, ObjectVersion } from '#adapters/storage/objects/object-store.ts';
import { maxParts } from '#adapters/storage/objects/part-sizes.ts';
import { serviceErrorOf } from '#adapters/storage/objects/service-errors.ts';
import { type ServiceRequest, slowTimeLimit } from '#adapters/storage/objects/service-request.ts';
import { childrenOf, childText, type XmlLimits, xmlText } from '#adapters/storage/objects/xml.ts';
import type { Confirm } from '#ports/storage.ts';
import { ChangeImpossible, ItemArchived, ItemChanged, ItemExists, StorageUnavailable } from '#ports/storage-errors.ts';
import type { S3Bucket } from './s3-bucket.ts';
import { s3CodeOf } from './s3-errors.ts';
import { md5Of } from './s3-request.ts';

/** Header in which Postern stores the token of the change that wrote an object. */
export const tokenHeader = 'x-amz-meta-postern-token';

const namesPerDeletion = 1000;
const itemsPerPause = 100;
/** Limits of the response to a deletion in which each name has an error. */
const errorLimits: XmlLimits = { bytes: 4 << 20, elements: 10_000 };
const maxCopy = 2 ** 30; // bytes that one request copies: some services accept less than Amazon S3, which accepts 5 GiB
const maxUploadId = 4096; // characters
const archiveClasses = ['GLACIER', 'DEEP_ARCHIVE'];
const copiedHeaders = /^(content-(type|disposition|encoding|language)|cache-control|expires|x-amz-storage-class|x-amz-meta-.+)$/;

/** Returns whether an object in a storage class may have to be restored before it can be read. */
export const isArchiveClass = (storageClass = ''): boolean => archiveClasses.includes(storageClass);

/**
 * Returns the value of a header for a copy; null: the copy does not get the header. Only ASCII can be signed, so other values of
 * `x-amz-meta-` are encoded as in Amazon S3 (RFC 2047).
 * @param value the bytes of the value, each as one character
 */
function copiedValue(name: string, value: string): string | null {
  if (/^[\x20-\x7e]*$/.test(value)) return value;
  return name.startsWith('x-amz-meta-') ? `=?UTF-8?B?${Buffer.from(value, 'latin1').toString('base64')}?=` : null;
}

/** Returns the description of an object, or null if there is none. */
export async function describeObject(bucket: S3Bucket, key: string): Promise<ObjectDescription | null> {
  const response = await bucket.sendAndRead('HEAD', key, { expected: [404] });
  if (response.status !== 200) return null;
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers)) {
    const copyValue = copiedHeaders.test(name) ? copiedValue(name, value) : null;
    if (copyValue !== null) headers[name] = copyValue;
  }
  return {
    ...objectFromHeaders(key, response.headers, isArchiveClass(response.headers['x-amz-storage-class'])),
    token: headers[tokenHeader] ?? null,
    headers,
  };
}

/** Returns the XML of items. Lets other work run after every few items, because encoding long keys and ETags takes time. */
async function xmlOfItems<T>(items: readonly T[], xmlOf: (item: T, index: number) => string): Promise<string> {
  let xml = '';
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % itemsPerPause === 0) await new Promise(setImmediate);
    xml += xmlOf(item, index);
  }
  return xml;
}

/**
 * Sends a request that deletes objects.
 * @param repeatable whether the request may be sent again if the connection is lost: a late first request could delete a new object
 * @returns the codes of its errors
 */
async function sendDeletion(bucket: S3Bucket, objects: string, repeatable: boolean): Promise<readonly string[]> {
  const body = `<Delete><Quiet>true</Quiet>${objects}</Delete>`;
  const headers = { 'content-md5': await md5Of(body) };
  using memory = bucket.memory.begin();
  const request = { query: { delete: '' }, headers, body, repeatable, limits: errorLimits, memory };
  return childrenOf(await bucket.sendForXml('POST', '', 'DeleteResult', request), 'Error').map(s3CodeOf);
}

interface DeletionOptions<T> {
  readonly xmlOf: (object: T) => string;
  /** Code of an error that is ignored; null: no error is ignored. */
  readonly harmlessCode: string | null;
  /** Awaited directly before each request. */
  readonly confirm: Confirm | undefined;
  readonly repeatable: boolean;
}

/** Deletes objects in batches. @throws StorageUnavailable if one of them gets an error other than `harmlessCode` */
async function deleteInBatches<T>(
  bucket: S3Bucket,
  objects: readonly T[],
  { xmlOf, harmlessCode, confirm, repeatable }: DeletionOptions<T>,
): Promise<void> {
  for (let start = 0; start < objects.length; start += namesPerDeletion) {
    const xml = await xmlOfItems(objects.slice(start, start + namesPerDeletion), xmlOf);
    await confirm?.();
    const errors = await sendDeletion(bucket, xml, repeatable);
    const error = errors.find((code) => code !== harmlessCode);
    if (error !== undefined) throw new StorageUnavailable(`the service cannot delete an object (${error})`);
  }
}

const xmlOfKey = (key: string) => `<Object><Key>${xmlText(key)}</Key></Object>`;

/** Deletes objects. A missing object is no error. @throws StorageUnavailable if one of them cannot be deleted */
export const deleteObjects = (bucket: S3Bucket, keys: readonly string[]): Promise<void> =>
  deleteInBatches(bucket, keys, { xmlOf: xmlOfKey, harmlessCode: null, confirm: undefined, repeatable: true });

/**
 * Deletes each object that still has the given ETag. A service that does not know this condition ignores it, or refuses the request: in
 * both cases, all of these objects are deleted. A request whose connection is lost is not sent again.
 * @param confirm awaited directly before each request
 * @throws StorageUnavailable if one of them cannot be deleted; OutcomeUnknown
 */
export async function deleteUnchanged(bucket: S3Bucket, versions: readonly ObjectVersion[], confirm?: Confirm): Promise<void> {
  const xmlOf = ({ key, etag }: ObjectVersion) => `<Object><Key>${xmlText(key)}</Key><ETag>${xmlText(etag)}</ETag></Object>`;
  const once = { confirm, repeatable: false };
  await deleteInBatches(bucket, versions, { xmlOf, harmlessCode: 'PreconditionFailed', ...once }).catch((cause: unknown) => {
    if (![400, 501].includes(serviceErrorOf(cause)?.status ?? 0)) throw cause;
    return deleteInBatches(bucket, versions, { xmlOf: ({ key }) => xmlOfKey(key), harmlessCode: null, ...once });
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
  const parts = await xmlOfItems(etags, (etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${xmlText(etag)}</ETag></Part>`);
  const body = `<CompleteMultipartUpload>${parts}</CompleteMultipartUpload>`;
  const request = { query: { uploadId }, headers: condition, body, expected: [409, 412], timeLimit: slowTimeLimit };
  const document = await bucket.sendForXmlOrNull('POST', key, 'CompleteMultipartUploadResult', request).catch((cause: unknown) => {
    if ('if-match' in condition && serviceErrorOf(cause)?.code === 'NoSuchKey') return null; // the object to replace was deleted
    throw cause;
  });
  return document !== null;
}

/** Ends a multipart upload without a result. An upload that has ended already is no error. */
export const abortMultipart = async (bucket: S3Bucket, key: string, uploadId: string): Promise<void> =>
  void (await bucket.sendAndRead('DELETE', key, { query: { uploadId }, expected: [404], repeatable: true }));

/** Throws ItemArchived if an object must be restored before it can be read. Throws all other causes unchanged. */
export function rethrowReadError(cause: unknown): never {
  if (serviceErrorOf(cause)?.code === 'InvalidObjectState') throw new ItemArchived('the object is archived', { cause });
  throw cause;
}

/**
 * Sends a request that copies an object or a part of it.
 * @returns the ETag of the copy
 * @throws ItemChanged if the source has changed; ItemExists; ItemArchived
 */
async function sendCopy(bucket: S3Bucket, to: string, request: ServiceRequest): Promise<string> {
  const copy = { ...request, expected: [404, 409, 412], timeLimit: slowTimeLimit };
  const isPart = request.query !== undefined;
  const root = isPart ? 'CopyPartResult' : 'CopyObjectResult';
  const document = await bucket.sendForXmlOrNull('PUT', to, root, { ...copy, repeatable: isPart }).catch(rethrowReadError);
  if (!document) {
    const isTaken = 'if-none-match' in (request.headers ?? {}) && (await describeObject(bucket, to)) !== null;
    throw isTaken ? new ItemExists('there is an object with this key') : new ItemChanged('the object to copy has changed');
  }
  return childText(document, 'ETag') ?? '';
}

/**
 * Copies an object with its metadata, and stores the token of the change with the copy.
 * @param overwrites whether the copy may replace an object. Services that do not know `If-None-Match` replace it in any case
 * @param maxBytes the most bytes that one request copies
 * @throws ItemChanged if the object has changed since it was described; ItemExists if there is an object with the new key; ItemArchived;
 *   ChangeImpossible if it is too large
 */
export async function copyObject(
  bucket: S3Bucket,
  from: ObjectDescription,
  to: string,
  { token, overwrites, maxBytes = maxCopy }: { readonly token: string; readonly overwrites: boolean; readonly maxBytes?: number },
): Promise<void> {
  const condition: Readonly<Record<string, string>> = overwrites ? {} : { 'if-none-match': '*' };
  const source = { 'x-amz-copy-source': `/${encodeKey(`${bucket.name}/${from.key}`)}`, 'x-amz-copy-source-if-match': from.etag };
  const metadata = { ...from.headers, [tokenHeader]: token };
  if (from.size <= maxBytes) {
    const headers = { ...metadata, ...source, ...condition, 'x-amz-metadata-directive': 'REPLACE' };
    return void (await sendCopy(bucket, to, { headers }));
  }
  const length = Math.ceil(from.size / maxBytes);
  if (length > maxParts) throw new ChangeImpossible('A file is too large to be copied');
  const uploadId = await startMultipart(bucket, to, metadata);
  try {
    const starts = Array.from({ length }, (_, index) => index * maxBytes);
    const etags = await mapInBatches(starts, async (start) => {
      const range = `bytes=${start}-${Math.min(start + maxBytes, from.size) - 1}`;
      const query = { partNumber: `${start / maxBytes + 1}`, uploadId };
      return checkedEtag(await sendCopy(bucket, to, { query, headers: { ...source, 'x-amz-copy-source-range': range } }));
    });
    if (await completeMultipart(bucket, to, uploadId, etags, condition)) return;
    throw overwrites ? new StorageUnavailable('the service did not complete the copy') : new ItemExists('there is an object with this key');
  } catch (cause) {
    await abortMultipart(bucket, to, uploadId).catch(() => {});
    throw cause;
  }
}
