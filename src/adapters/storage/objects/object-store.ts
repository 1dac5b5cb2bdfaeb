import type { GroupMemory } from '#core/memory-budget.ts';
import type { OutboundBody, OutboundResponse } from '#ports/outbound.ts';
import type { Confirm, SignedHeaders } from '#ports/storage.ts';

/** An object of a service. */
export interface StoredObject {
  readonly key: string;
  readonly size: number;
  /** ms since the epoch, whole seconds. */
  readonly modified: number;
  readonly etag: string;
  /** Whether, by its storage class, the object must be restored before it can be read. The object may already have been restored. */
  readonly mayNeedRestore: boolean;
  /** Whether another program has locked it against changes. */
  readonly isLocked?: boolean;
}

/** A version of an object. */
export type ObjectVersion = Pick<StoredObject, 'key' | 'etag'>;

/** An object with the properties that a listing does not contain. */
export interface ObjectDescription extends StoredObject {
  /** Token of the change that wrote it, or null. */
  readonly token: string | null;
  /** The headers that a copy keeps. */
  readonly headers: Readonly<Record<string, string>>;
  /** Set for a copy that has no bytes yet: the service has not completed it (pending), or cannot complete it (failed). */
  readonly copyState?: 'pending' | 'failed';
}

/** One page of the keys that begin with a prefix. */
export interface ListedKeys {
  readonly objects: readonly StoredObject[];
  /** Beginnings of keys up to the delimiter. */
  readonly prefixes: readonly string[];
}

/** The condition for writing an object. absent: no object has the key. etag: the object has this version. */
export type WriteCondition = 'none' | 'absent' | { readonly etag: string };

export interface PutOptions {
  /** Token of the change, which is stored with the object. */
  readonly token?: string;
  /** Default: none. */
  readonly condition?: WriteCondition;
  /** Whether the object may be written again after any failure, because the result is the same. */
  readonly repeatable?: boolean;
}

/** Which bytes of which version are requested. */
export interface ObjectRange {
  /** First and last byte. */
  readonly range?: readonly [number, number];
  /** The version. A service answers 412 for another one. */
  readonly etag?: string;
  /** The number of the version in a bucket that keeps earlier versions. */
  readonly version?: string;
  /** Whether the response is streamed: it has no time limit then. */
  readonly streamed?: boolean;
  readonly signal?: AbortSignal;
}

/**
 * A place for objects at a service, such as a bucket of S3. Requests throw StorageUnavailable if the service does not respond, and
 * OutcomeUnknown for a change that may have taken place.
 */
export interface ObjectStore {
  /** Identifies the place: the endpoint, and the bucket or container. */
  readonly identity: string;
  /** Memory for long lists of the tenant. */
  readonly memory: GroupMemory;
  /** ms. */
  readonly monotonic: () => number;
  /** Returns an address at which a browser can download an object. null: the credentials cannot sign. @param lifetime seconds */
  readonly signAddress: ((key: string, headers: SignedHeaders, lifetime: number) => Promise<string>) | null;
  /** The header in which the service names the version of an object that it keeps after a change; null: it keeps none. */
  readonly versionHeader: string | null;
  /** Whether the service may ignore the version in `deleteUnchanged`, and delete another one. */
  readonly ignoresVersions: boolean;
  /** Whether a deletion names the object in its URL: an object whose key has the segment `.` or `..` then cannot be deleted. */
  readonly deletesByUrl: boolean;
  /** Returns whether a key is too long for the service, or has too many segments. */
  isKeyTooLong(key: string): boolean;
  /**
   * Yields the keys that begin with a prefix, in pages.
   * @param delimiter '/': keys with a further slash are yielded only as prefixes
   * @throws StorageBusy
   */
  list(prefix: string, delimiter?: '' | '/'): AsyncIterable<ListedKeys>;
  /** Returns whether any key begins with a prefix. */
  hasKeys(prefix: string): Promise<boolean>;
  /** Returns the properties of an object, or null if there is none. */
  describe(key: string): Promise<ObjectDescription | null>;
  /**
   * Requests an object, or a part of it.
   * @returns the response, with status 200, 206, 412 or 416; null: there is no object
   * @throws ItemArchived
   */
  get(key: string, range?: ObjectRange): Promise<OutboundResponse | null>;
  /** Writes an object with one request. @returns false if the condition is not met */
  put(key: string, body: string | OutboundBody, options?: PutOptions): Promise<boolean>;
  /** Deletes objects. A missing object is no error. */
  delete(keys: readonly string[]): Promise<void>;
  /**
   * Deletes objects that are still in the given versions.
   * @param confirm awaited before the first request, and directly before each request if the service may ignore the versions
   */
  deleteUnchanged(objects: readonly ObjectVersion[], confirm?: Confirm): Promise<void>;
  /**
   * Copies an object with its metadata, and stores the token of the change with the copy.
   * @param overwrites whether the copy may replace an object. A service may not know this condition: then it replaces the object
   * @throws ItemChanged if the object has changed since it was described; ItemExists if `to` is taken; ItemArchived;
   *   ChangeImpossible if the object is too large
   */
  copy(from: ObjectDescription, to: string, options: { readonly token: string; readonly overwrites: boolean }): Promise<void>;
  /** Starts an upload in parts. @returns its id */
  startParts(key: string, token: string): Promise<string>;
  /**
   * Sends a part.
   * @param number from 1
   * @returns the id of the part for `joinParts`
   * @throws ItemChanged if the service has ended the upload
   */
  putPart(key: string, uploadId: string, number: number, body: OutboundBody): Promise<string>;
  /** Joins the parts to an object. @param parts as `putPart` returned them, in order. @returns false if the condition is not met */
  joinParts(key: string, uploadId: string, parts: readonly string[], options: PartsOptions): Promise<boolean>;
  /** Ends an upload in parts without a result. An upload that has ended already is no error. */
  abortParts(key: string, uploadId: string): Promise<void>;
}

export interface PartsOptions {
  readonly token: string;
  readonly condition: WriteCondition;
}
