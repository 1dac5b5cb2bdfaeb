import type { ItemPath } from '#core/item-path.ts';
import type { OpenFile, Storage, Upload } from '#ports/storage.ts';
import { diskStorage, type FolderStorage } from './disk/disk-storage.ts';
import type { OpenFolder, OpenFolders } from './disk/open-folders.ts';
import type { LocalLocation } from './local-configuration.ts';
import { localTestSteps } from './local-test-steps.ts';
import { uploadWith } from './upload-with.ts';

async function* releaseAtEnd<T>(batches: AsyncIterable<T>, release: () => void): AsyncIterable<T> {
  try {
    yield* batches;
  } finally {
    release();
  }
}

/** Returns a file that releases its folder when it is closed. A small file is in memory and needs no folder. */
function releaseAfterRead(file: OpenFile, hold: () => () => void): OpenFile {
  if (file.content) return file;
  const release = hold();
  return {
    entry: file.entry,
    read: (range, signal) => file.read(range, signal),
    close: () => file.close().finally(release),
  };
}

const releaseAfterUpload = (upload: Upload, release: () => void): Upload =>
  uploadWith(upload, {
    discard: () => upload.discard().finally(release),
    closeForRecovery: () => upload.closeForRecovery().finally(release),
  });

/** Returns the storage of a location of kind `local`. Its folder is opened when it is needed, and may be closed while nobody uses it. */
export function localStorage(folders: OpenFolders, { folder, writingRules: writing }: LocalLocation): Storage {
  const storages = new WeakMap<OpenFolder, FolderStorage>();
  function storageOf(openFolder: OpenFolder): FolderStorage {
    const storage = storages.get(openFolder) ?? diskStorage(openFolder, writing);
    storages.set(openFolder, storage);
    return storage;
  }
  const withStorage = <T>(work: (storage: FolderStorage, hold: () => () => void) => Promise<T>) =>
    folders.use(folder, (openFolder, hold) => work(storageOf(openFolder), hold));
  const pathOf = async (path: ItemPath) => [await folders.pathOf(folder), ...path].join('/');
  const storage: Storage = {
    traits: { create: 'atomic', replace: 'atomic', folders: 'real', openAhead: 0 },
    check: () => folders.check(folder),
    folderKey: pathOf,
    pathOnDisk: pathOf,
    signedAddress: null,
    stat: (path) => withStorage((storage) => storage.stat(path)),
    list: (path, client) =>
      withStorage(async (storage, hold) => {
        const batches = await storage.list(path, client);
        return batches && releaseAtEnd(batches, hold());
      }),
    page: (path, query) => withStorage((storage) => storage.page(path, query)),
    open: (path, client) =>
      withStorage(async (storage, hold) => {
        const file = await storage.open(path, client);
        return file && releaseAfterRead(file, hold);
      }),
    readRun: (files, buffer, client) => withStorage((storage) => storage.readRun(files, buffer, client)),
    createFolder: (parent, name, context) => withStorage((storage) => storage.createFolder(parent, name, context)),
    upload: (target, token) => withStorage(async (storage, hold) => releaseAfterUpload(await storage.upload(target, token), hold())),
    continueUpload: (target, closedUpload) =>
      withStorage(async (storage, hold) => {
        const upload = await storage.continueUpload(target, closedUpload);
        return { ...releaseAfterUpload(upload, hold()), readBack: () => upload.readBack() };
      }),
    recover: (change) => withStorage((storage) => storage.recover(change)),
    giveUp: async () => false, // nothing to do: a late replacement checks the ETag, and so fails by itself if the file was changed
    clearEvidence: (change) => withStorage((storage) => storage.clearEvidence(change)),
    rename: (parent, from, to, context) => withStorage((storage) => storage.rename(parent, from, to, context)),
    remove: (parent, name, context) => withStorage((storage) => storage.remove(parent, name, context)),
    async sweep(findTokensInUse, signal) {
      if (!(await folders.isStagingEmpty(folder))) await withStorage((storage) => storage.sweep(findTokensInUse, signal));
    },
    testSteps: (token) => localTestSteps(storage, token),
  };
  return storage;
}
