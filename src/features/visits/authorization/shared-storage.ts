import { type ItemPath, joinPaths, parseStoredPath, splitPath } from '#core/item-path.ts';
import { fieldRefusal, Refusal } from '#core/messages.ts';
import { PageTooDeep } from '#core/page-selection.ts';
import { unsealConfiguration } from '#features/storage-access/open-location.ts';
import type { Ports } from '#ports/ports.ts';
import type { Storage } from '#ports/storage.ts';
import {
  ChangeImpossible,
  ItemArchived,
  ItemBusy,
  ItemChanged,
  ItemExists,
  ItemNotFound,
  OutcomeUnknown,
  PathTooLong,
  StorageBusy,
  StorageFull,
  StorageUnavailable,
  StorageUnusable,
} from '#ports/storage-errors.ts';
import type { AuthorizedVisit } from './authorize-visit.ts';

/** Returns the function that continues an upload of a client, or null if the storage cannot continue uploads. */
function continuationFor(storage: Storage, client: string): Storage['continueUpload'] {
  const continueUpload = storage.continueUpload?.bind(storage);
  return continueUpload ? (target, upload) => continueUpload({ ...target, client }, upload) : null;
}

/** Returns the function that reads several files for a client, or null if the storage reads files one by one. */
function runReaderFor(storage: Storage, client: string): Storage['readRun'] {
  const readRun = storage.readRun?.bind(storage);
  return readRun ? (files, buffer) => readRun(files, buffer, client) : null;
}

/** Returns, for each action, the methods of a storage that the action may use, on behalf of a client. */
const permittedMethods = (storage: Storage, client: string) => {
  const stat: Storage['stat'] = (path) => storage.stat(path);
  const open: Storage['open'] = (path) => storage.open(path, client);
  const pathOnDisk: Storage['pathOnDisk'] = (path) => storage.pathOnDisk(path);
  const folderKey: Storage['folderKey'] = (path) => storage.folderKey(path);
  const clearEvidence: Storage['clearEvidence'] = (change) => storage.clearEvidence(change);
  const recover: Storage['recover'] = (change, confirm) => storage.recover(change, confirm);
  const giveUp: Storage['giveUp'] = (change) => storage.giveUp(change);
  const change = { stat, folderKey, recover, giveUp, clearEvidence, traits: storage.traits };
  return {
    list: { stat, page: ((path, query) => storage.page(path, query)) satisfies Storage['page'] },
    // A viewed file needs a Content-Security-Policy header, which a reverse proxy or a storage service would not send.
    view: { stat, open, pathOnDisk: async () => null, signedAddress: null },
    download: { stat, open, pathOnDisk, signedAddress: storage.signedAddress },
    downloadFolder: {
      ...{ stat, open, traits: storage.traits },
      readRun: runReaderFor(storage, client),
      list: ((path) => storage.list(path, client)) satisfies Storage['list'],
    },
    upload: {
      ...change,
      upload: ((target, token) => storage.upload({ ...target, client }, token)) satisfies Storage['upload'],
      continueUpload: continuationFor(storage, client),
    },
    createFolder: {
      ...change,
      createFolder: ((parent, name, context) =>
        storage.createFolder(parent, name, { ...context, client })) satisfies Storage['createFolder'],
    },
    rename: {
      ...change,
      rename: ((parent, from, to, context) => storage.rename(parent, from, to, { ...context, client })) satisfies Storage['rename'],
    },
    delete: {
      ...change,
      list: ((path) => storage.list(path, client)) satisfies Storage['list'],
      remove: ((parent, name, context) => storage.remove(parent, name, { ...context, client })) satisfies Storage['remove'],
    },
  };
};

type PermittedMethods = ReturnType<typeof permittedMethods>;

/**
 * The storage of a share, for one action. The methods of `storage` take paths in the location. `locationPath` and
 * `directoryEntry` take paths that are relative to the root of the share, and so cannot name anything above it.
 */
export interface SharedStorage<A extends keyof PermittedMethods> {
  readonly storage: PermittedMethods[A];
  /** Returns the path of an item in the location. @throws Refusal (404) for a path below a share of one file */
  locationPath(path: ItemPath): ItemPath;
  /** Returns the parent folder and the name of an item. @throws Refusal (403) for the shared folder itself; (404) as `locationPath` */
  directoryEntry(path: ItemPath): { parent: ItemPath; name: string };
}

export type StoragePorts = Pick<Ports, 'storages' | 'vault'>;

/**
 * Opens the storage of a share for the action of a permit. Visitors' requests reach files only through this function.
 * @throws Refusal as `withStorageErrors`
 */
export async function storageFor<A extends keyof PermittedMethods>(
  { permit, link, visitorRequest }: Pick<AuthorizedVisit<A>, 'permit' | 'link' | 'visitorRequest'>,
  { storages, vault }: StoragePorts,
): Promise<SharedStorage<A>> {
  const root = parseStoredPath(link.path);
  if (!root || permit.share.active !== (link.active === 1))
    throw new Error('the path in the share row is invalid, or the permit is for another state of the share');
  const configuration = unsealConfiguration(link, vault);
  const storage = await withStorageErrors(() => storages.open({ id: link.location_id, tid: link.tid, kind: link.kind, configuration }));
  const locationPath = (path: ItemPath) => {
    if (link.folder === 0 && path.length > 0) throw new Refusal('itemAbsent');
    return joinPaths(root, path);
  };
  return {
    storage: permittedMethods(storage, visitorRequest.address)[permit.request],
    locationPath,
    directoryEntry(path) {
      const entry = path.length === 0 && link.folder === 1 ? null : splitPath(locationPath(path));
      if (!entry) throw new Refusal('rootFixed');
      return entry;
    },
  };
}

const retryAfter = 5; // seconds

/** Returns the refusal for an error of a storage, or any other error unchanged. */
function refusalOf(cause: unknown): unknown {
  if (cause instanceof ItemNotFound) return new Refusal('itemAbsent');
  if (cause instanceof ItemExists) return new Refusal('itemExists');
  if (cause instanceof ItemChanged) return new Refusal('itemStale');
  if (cause instanceof ChangeImpossible) return new Refusal('changeImpossible', `${cause.message}.`);
  if (cause instanceof ItemArchived) return new Refusal('fileArchived');
  if (cause instanceof ItemBusy)
    return new Refusal('changesBusy', 'Another change of this item is in progress. Try again in a few seconds.', { retryAfter });
  if (cause instanceof PathTooLong) return new Refusal('pathMalformed', 'The path is too long for this storage. Choose a shorter name.');
  if (cause instanceof PageTooDeep)
    return fieldRefusal('startIndex', 'is too high for a folder of this size: search for a part of the name instead');
  if (cause instanceof StorageFull) return new Refusal('storageFull');
  if (cause instanceof OutcomeUnknown)
    return new Refusal(
      'storageAway',
      'The storage failed during the change. The change may have taken place: look at the folder before you repeat it.',
    );
  if (cause instanceof StorageBusy) return new Refusal('listingBusy', undefined, { retryAfter });
  if (cause instanceof StorageUnavailable || cause instanceof StorageUnusable) return new Refusal('storageAway');
  return cause;
}

/** Runs an operation on a storage. @throws Refusal for the errors of the storage */
export async function withStorageErrors<T>(operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (cause) {
    throw refusalOf(cause);
  }
}
