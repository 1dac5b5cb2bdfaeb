import type { Storage, Upload } from '#ports/storage.ts';
import { diskStorage } from './disk/disk-storage.ts';
import type { OpenFolder, OpenFolders } from './disk/open-folders.ts';
import type { LocalLocation } from './local-configuration.ts';

type DiskStorage = ReturnType<typeof diskStorage>;

async function* releaseAtEnd<T>(batches: AsyncIterable<T>, release: () => void): AsyncIterable<T> {
  try {
    yield* batches;
  } finally {
    release();
  }
}

const releaseAfterUpload = (upload: Upload, release: () => void): Upload => ({
  ...upload,
  discard: () => upload.discard().finally(release),
  closeForRecovery: () => upload.closeForRecovery().finally(release),
});

/** Returns the storage of a location of kind `local`. Its folder is open only while it is used. */
export function localStorage(folders: OpenFolders, { folder, writingRules: writing }: LocalLocation): Storage {
  const storages = new WeakMap<OpenFolder, DiskStorage>();
  function storageOf(openFolder: OpenFolder): DiskStorage {
    const storage = storages.get(openFolder) ?? diskStorage(openFolder, writing);
    storages.set(openFolder, storage);
    return storage;
  }
  const withStorage = <T>(work: (storage: DiskStorage, hold: () => () => void) => Promise<T>) =>
    folders.use(folder, (openFolder, hold) => work(storageOf(openFolder), hold));
  return {
    check: () => folders.check(folder),
    diskPath: (path) => [folders.pathOf(folder), ...path].join('/'),
    stat: (path) => withStorage((storage) => storage.stat(path)),
    list: (path) =>
      withStorage(async (storage, hold) => {
        const batches = await storage.list(path);
        return batches && releaseAtEnd(batches, hold());
      }),
    page: (path, query) => withStorage((storage) => storage.page(path, query)),
    open: (path) => withStorage((storage) => storage.open(path)),
    createFolder: (parent, name, mark) => withStorage((storage) => storage.createFolder(parent, name, mark)),
    upload: (parent, token, expected) =>
      withStorage(async (storage, hold) => releaseAfterUpload(await storage.upload(parent, token, expected), hold())),
    recover: (change) => withStorage((storage) => storage.recover(change)),
    clearEvidence: (change) => withStorage((storage) => storage.clearEvidence(change)),
    rename: (parent, from, to, mark) => withStorage((storage) => storage.rename(parent, from, to, mark)),
    remove: (parent, name, mark) => withStorage((storage) => storage.remove(parent, name, mark)),
    sweep: (listActiveTokens) => withStorage((storage) => storage.sweep(listActiveTokens)),
  };
}
