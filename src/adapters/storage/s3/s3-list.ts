import { StorageUnavailable } from '#ports/storage.ts';
import type { S3Bucket } from './s3-bucket.ts';
import { etagOf, isArchiveClass, type S3Object, sizeOf, timeOf } from './s3-objects.ts';
import { childrenOf, childText, type XmlElement, type XmlLimits } from './s3-xml.ts';

const maxKey = 1024; // bytes, of the slash at the end of a folder too
const maxListed = 1_000_000; // keys of one folder: a service could list without end
/** A page of 1,000 keys of 1,024 bytes, each encoded in three characters, has 3 MB and 10,000 elements. */
const pageLimits: XmlLimits = { bytes: 4 << 20, elements: 20_000 };
/** A page with one key. Health checks read many of them at once. */
const shortPageLimits: XmlLimits = { bytes: 1 << 14, elements: 200 };
const maxListTime = 300_000; // ms that the requests of one list may take together

/** One page of the keys that begin with a prefix. */
interface ListedKeys {
  readonly objects: readonly S3Object[];
  /** Beginnings of keys up to the delimiter. */
  readonly prefixes: readonly string[];
}

/** Returns whether no service can keep a key. */
export const isKeyTooLong = (key: string): boolean => Buffer.byteLength(key) > maxKey;

/** Decodes a key of a list that is encoded for URLs. @throws StorageUnavailable if it is not encoded correctly */
function decodeListed(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (cause) {
    throw new StorageUnavailable('the service sent a key that cannot be read', { cause });
  }
}

/** Returns the keys on a page. @throws StorageUnavailable if one of them is no key, or does not begin with the prefix */
function keysOf(page: XmlElement, prefix: string): ListedKeys {
  const textOf = (name: string, element = page) => childText(element, name) ?? '';
  const isEncoded = textOf('EncodingType') === 'url';
  function keyOf(text: string): string {
    const key = isEncoded ? decodeListed(text) : text;
    if (isKeyTooLong(key)) throw new StorageUnavailable('the service sent a key that is too long');
    if (!key.startsWith(prefix)) throw new StorageUnavailable('the service lists keys with another prefix');
    return key;
  }
  return {
    objects: childrenOf(page, 'Contents').map((element) => ({
      key: keyOf(textOf('Key', element)),
      size: sizeOf(textOf('Size', element)),
      modified: timeOf(textOf('LastModified', element)),
      etag: etagOf(textOf('ETag', element)),
      mayBeArchived: isArchiveClass(textOf('StorageClass', element)),
    })),
    prefixes: childrenOf(page, 'CommonPrefixes').map((element) => keyOf(textOf('Prefix', element))),
  };
}

/**
 * Yields the keys that begin with a prefix, in pages.
 * @param delimiter '/': keys with a further slash only as prefixes
 * @throws StorageBusy; StorageUnavailable if there are more than a million, if the service takes too long, or if the list does not advance
 */
export async function* listKeys(bucket: S3Bucket, prefix: string, delimiter: '' | '/' = '', pageSize = 1000): AsyncGenerator<ListedKeys> {
  const query = {
    ...{ 'list-type': '2', prefix, 'max-keys': `${pageSize}`, 'encoding-type': 'url' },
    ...(delimiter ? { delimiter } : {}),
  };
  using memory = bucket.memory.begin();
  let [listed, waited] = [0, 0];
  for (let next = ''; ; ) {
    const since = bucket.monotonic();
    const page = await bucket.sendForXml('GET', '', 'ListBucketResult', {
      query: { ...query, ...(next ? { 'continuation-token': next } : {}) },
      ...(pageSize === 1 ? { limits: shortPageLimits } : { limits: pageLimits, memory }),
    });
    waited += bucket.monotonic() - since;
    yield keysOf(page, prefix);
    if (childText(page, 'IsTruncated') !== 'true') return;
    listed += page.children.length;
    if (listed > maxListed) throw new StorageUnavailable('the folder has too many files');
    if (waited > maxListTime) throw new StorageUnavailable('the service takes too long to list the folder');
    const following = childText(page, 'NextContinuationToken') ?? '';
    if (following === next || following === '') throw new StorageUnavailable('the service lists the same keys again');
    next = following;
  }
}

/** Returns whether any key begins with a prefix. */
export async function hasKeys(bucket: S3Bucket, prefix: string): Promise<boolean> {
  // A page may be empty, for example in a bucket with versions, although others follow.
  for await (const { objects } of listKeys(bucket, prefix, '', 1)) if (objects.length > 0) return true;
  return false;
}
