/** A file or folder in a storage. Symbolic links, devices and other special files are not entries. */
export interface Entry {
  readonly name: string;
  readonly folder: boolean;
  /** Bytes; 0 for a folder. */
  readonly size: number;
  /** Milliseconds since the epoch; null: a folder of a storage that keeps no times of folders. */
  readonly modified: number | null;
  /**
   * Of a file: validator of the content (RFC 9110, 8.8.3), quotes included. Usually strong, but some servers send a weak one. For SFTP,
   * and for WebDAV servers that send none, it is made of the size and the time, so it does not change if both stay the same.
   */
  readonly etag: string;
  /** true: the storage may have to restore the file from an archive tier before it can be opened. */
  readonly mayNeedRestore?: boolean;
}

/** An entry whose time is known: every file, and the folders of a storage that keeps times of folders. */
export interface DatedEntry extends Entry {
  readonly modified: number;
}

/** Selects one page of a folder. */
export interface ListingQuery {
  readonly sort: 'name' | 'size' | 'modifiedDateTime';
  readonly order: 'asc' | 'desc';
  /** Case-insensitive substring of the name; null: all names. */
  readonly searchWord: string | null;
  readonly startIndex: number;
  readonly pageSize: number;
}

/** Largest page, and the page size if a request names none; in entries. */
export const [maxListingSize, defaultListingSize] = [10_000, 1000];

/** A page of a folder. */
export interface ListingPage {
  readonly entries: readonly Entry[];
  /** Number of matching entries on all pages. */
  readonly total: number;
  /** Memory of the entries, taken from a budget. The caller disposes of it when it no longer needs the entries. */
  readonly memory?: Disposable;
}
