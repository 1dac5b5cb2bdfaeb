import { decodeKey } from '#adapters/storage/objects/encode-key.ts';
import { checkedEtag, hasObjects, listPages, sizeOf, timeOf } from '#adapters/storage/objects/list-pages.ts';
import type { ListedKeys, ObjectStore, StoredObject } from '#adapters/storage/objects/object-store.ts';
import { childrenOf, childText, type XmlElement, type XmlLimits } from '#adapters/storage/objects/xml.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import type { AzureContainer } from './azure-container.ts';
import { hierarchicalNamespaceError } from './azure-errors.ts';

const [maxKey, maxSegments] = [1024, 254]; // characters; parts between slashes
/** A page of 1,000 blobs, each with up to 40 properties. */
const pageLimits: XmlLimits = { bytes: 8 << 20, elements: 50_000 };
/** A page with one blob. Health checks read many of them at once. */
const shortPageLimits: XmlLimits = { bytes: 1 << 14, elements: 200 };

/** Returns whether the service cannot store a key because of its length or the number of its segments. */
export const isAzureKeyTooLong = (key: string): boolean => key.length > maxKey || key.split('/').length > maxSegments;

/** Returns an ETag with quotes, as in headers. Lists leave them out. */
export const quotedEtag = (etag = ''): string => checkedEtag(etag === '' || etag.startsWith('"') ? etag : `"${etag}"`);

/** Returns whether a blob in an access tier must be restored before it can be read. */
export const isArchiveTier = (tier: string | null | undefined): boolean => tier === 'Archive';

/** Returns the key in the element `Name` of an entry. @throws StorageUnavailable if it is not valid, or does not begin with the prefix */
function keyOf(entry: XmlElement, prefix: string): string {
  const [name] = childrenOf(entry, 'Name');
  const key = name?.isEncoded ? decodeKey(name.text) : (name?.text ?? null);
  if (key === null || isAzureKeyTooLong(key)) throw new StorageUnavailable('the service sent a key that cannot be read');
  if (!key.startsWith(prefix)) throw new StorageUnavailable('the service lists keys with another prefix');
  return key;
}

const noProperties: XmlElement = { name: '', isEncoded: false, children: [], text: '' };

function objectOf(entry: XmlElement, prefix: string): StoredObject {
  const [properties = noProperties] = childrenOf(entry, 'Properties');
  const textOf = (name: string) => childText(properties, name) ?? '';
  if (textOf('ResourceType') === 'directory') throw hierarchicalNamespaceError();
  return {
    key: keyOf(entry, prefix),
    size: sizeOf(textOf('Content-Length')),
    modified: timeOf(textOf('Last-Modified')),
    etag: quotedEtag(textOf('Etag')),
    mayNeedRestore: isArchiveTier(textOf('AccessTier')),
    isLocked: textOf('LeaseStatus') === 'locked',
  };
}

/**
 * Yields the keys that begin with a prefix, in pages.
 * @param delimiter '/': keys with a further slash are yielded only as prefixes
 * @throws StorageBusy, StorageUnavailable
 */
export function listBlobs(
  container: AzureContainer,
  store: Pick<ObjectStore, 'memory' | 'monotonic'>,
  prefix: string,
  delimiter: '' | '/' = '',
  pageSize = 1000,
): AsyncGenerator<ListedKeys> {
  const query = { restype: 'container', comp: 'list', prefix, maxresults: `${pageSize}`, ...(delimiter ? { delimiter } : {}) };
  return listPages(store, async (marker, memory) => {
    const page = await container.sendForXml('', 'EnumerationResults', {
      query: { ...query, ...(marker ? { marker } : {}) },
      ...(pageSize === 1 ? { limits: shortPageLimits } : { limits: pageLimits, memory }),
    });
    const [blobs = noProperties] = childrenOf(page, 'Blobs');
    return {
      objects: childrenOf(blobs, 'Blob').map((entry) => objectOf(entry, prefix)),
      prefixes: childrenOf(blobs, 'BlobPrefix').map((entry) => keyOf(entry, prefix)),
      next: childText(page, 'NextMarker') ?? '',
    };
  });
}

/** Returns whether any key begins with a prefix. */
export const hasBlobs = (container: AzureContainer, store: Pick<ObjectStore, 'memory' | 'monotonic'>, prefix: string): Promise<boolean> =>
  hasObjects(listBlobs(container, store, prefix, '', 1));
