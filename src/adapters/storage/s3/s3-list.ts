import { decodeKey } from '#adapters/storage/objects/encode-key.ts';
import { checkedEtag, hasObjects, listPages, sizeOf, timeOf } from '#adapters/storage/objects/list-pages.ts';
import type { ListedKeys } from '#adapters/storage/objects/object-store.ts';
import { childrenOf, childText, type XmlElement, type XmlLimits } from '#adapters/storage/objects/xml.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import type { S3Bucket } from './s3-bucket.ts';
import { isArchiveClass } from './s3-objects.ts';

const maxKey = 1024; // bytes, including the slash at the end of a folder
/** A page of 1,000 keys of 1,024 bytes, each byte encoded in three characters, has 3 MB and 10,000 elements. */
const pageLimits: XmlLimits = { bytes: 4 << 20, elements: 20_000 };
/** A page with one key. Health checks read many of them at once. */
const shortPageLimits: XmlLimits = { bytes: 1 << 14, elements: 200 };

/** Returns whether a key is longer than any service can store. */
export const isS3KeyTooLong = (key: string): boolean => Buffer.byteLength(key) > maxKey;

/** Returns the keys on a page. @throws StorageUnavailable if one of them is not a valid key, or does not begin with the prefix */
function keysOf(page: XmlElement, prefix: string): ListedKeys {
  const textOf = (name: string, element = page) => childText(element, name) ?? '';
  const isEncoded = textOf('EncodingType') === 'url';
  function keyOf(text: string): string {
    const key = isEncoded ? decodeKey(text.replaceAll('+', ' ')) : text;
    if (key === null) throw new StorageUnavailable('the service sent a key that cannot be read');
    if (isS3KeyTooLong(key)) throw new StorageUnavailable('the service sent a key that is too long');
    if (!key.startsWith(prefix)) throw new StorageUnavailable('the service lists keys with another prefix');
    return key;
  }
  return {
    objects: childrenOf(page, 'Contents').map((element) => ({
      key: keyOf(textOf('Key', element)),
      size: sizeOf(textOf('Size', element)),
      modified: timeOf(textOf('LastModified', element)),
      etag: checkedEtag(textOf('ETag', element)),
      mayNeedRestore: isArchiveClass(textOf('StorageClass', element)),
    })),
    prefixes: childrenOf(page, 'CommonPrefixes').map((element) => keyOf(textOf('Prefix', element))),
  };
}

/** Returns the token with which a list continues; '' at its end. @throws StorageUnavailable if the list continues and has no token */
function nextOf(page: XmlElement): string {
  if (childText(page, 'IsTruncated') !== 'true') return '';
  const next = childText(page, 'NextContinuationToken') ?? '';
  if (next === '') throw new StorageUnavailable('the service does not say where the list continues');
  return next;
}

/**
 * Yields the keys that begin with a prefix, in pages.
 * @param delimiter '/': keys with a further slash are yielded only as prefixes
 * @throws StorageBusy, StorageUnavailable
 */
export function listKeys(bucket: S3Bucket, prefix: string, delimiter: '' | '/' = '', pageSize = 1000): AsyncGenerator<ListedKeys> {
  const query = {
    ...{ 'list-type': '2', prefix, 'max-keys': `${pageSize}`, 'encoding-type': 'url' },
    ...(delimiter ? { delimiter } : {}),
  };
  return listPages(bucket, async (next, memory) => {
    const page = await bucket.sendForXml('GET', '', 'ListBucketResult', {
      query: { ...query, ...(next ? { 'continuation-token': next } : {}) },
      ...(pageSize === 1 ? { limits: shortPageLimits } : { limits: pageLimits, memory }),
    });
    return { ...keysOf(page, prefix), next: nextOf(page) };
  });
}

/** Returns whether any key begins with a prefix. */
export const hasKeys = (bucket: S3Bucket, prefix: string): Promise<boolean> => hasObjects(listKeys(bucket, prefix, '', 1));
