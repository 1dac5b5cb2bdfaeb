import { isSameVersion } from '#adapters/storage/computed-etag.ts';
import { nameError } from '#core/item-path.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import type { ServerEntry } from './item-server.ts';

/** The properties by which a version of a file is recognized after a move. */
export interface Version {
  readonly size: number;
  /** ms since the epoch; null: unknown. */
  readonly modified: number | null;
  readonly etag: string;
}

/** The note that is written directly before an item is moved. */
export interface Marker {
  /** The name that the item gets. */
  readonly name: string;
  /** When the marker was written; ms since the epoch. */
  readonly at: number;
  readonly item: Version | 'folder';
  /** The file that the item replaces; null: the name was free. */
  readonly replaced: Version | 'folder' | null;
  /** The change was given up: nothing may complete it. */
  readonly givenUp?: true;
}

export const versionOf = ({ folder, size, modified, etag }: ServerEntry): Version | 'folder' =>
  folder ? 'folder' : { size, modified, etag };

/**
 * Returns whether an entry has the given version. Every folder has the version `folder`. A server may change the time or the ETag of a file
 * when it moves the file, so one of the two must be equal, and the size must be. If `version` has no time, only the size must be equal.
 */
export function isVersion(version: Version | 'folder', entry: ServerEntry): boolean {
  if (version === 'folder' || entry.folder) return version === 'folder' && entry.folder;
  if (version.size !== entry.size) return false;
  return version.modified === null || version.modified === entry.modified || isSameVersion(version.etag, entry.etag);
}

const isVersionLike = (value: unknown): boolean => value === 'folder' || (typeof value === 'object' && value !== null && 'size' in value);

/** @throws StorageUnavailable if the text is not a marker: the state of the change is then unknown */
export function parseMarker(text: string): Marker {
  try {
    const marker: Marker = JSON.parse(text);
    const { name, at, item, replaced } = marker;
    if (typeof name !== 'string' || nameError(name) !== null || typeof at !== 'number') throw new TypeError('a member is wrong');
    if (!isVersionLike(item) || (replaced !== null && !isVersionLike(replaced))) throw new TypeError('a version is wrong');
    return marker;
  } catch (cause) {
    throw new StorageUnavailable('the marker of a change cannot be read', { cause });
  }
}
