import type { Storage, Upload } from '#ports/storage.ts';
import { diskStorage } from './disk/disk-storage.ts';
import type { OpenFolder, OpenFolders } from './disk/open-folders.ts';
import type { LocalLocation } from './local-configuration.ts';

type DiskStorage = ReturnType<typeof diskStorage>;

async function* releasedAtEnd<T>(batches: AsyncIterable<T>, release: () => void): AsyncIterable<T> {
  try {
    yield* batches;
  } finally {
    release();
  }
}

const releasedBehind = (upload: Upload, release: () => void): Upload => ({
  ...upload,
  forget: () => upload.forget().finally(release),
  leave: () => upload.leave().finally(release),
});

/** A location of kind `local`. Its folder is open only while it is used. */
export function localStorage(folders: OpenFolders, { folder, writing }: LocalLocation): Storage {
  const storages = new WeakMap<OpenFolder, DiskStorage>();
  function storageOf(open: OpenFolder): DiskStorage {
    const storage = storages.get(open) ?? diskStorage(open, writing);
    storages.set(open, storage);
    return storage;
  }
  const reach = <T>(work: (storage: DiskStorage, hold: () => () => void) => Promise<T>) =>
    folders.use(folder, (open, hold) => work(storageOf(open), hold));
  return {
    check: () => folders.check(folder),
    onDisk: (path) => [folders.pathOf(folder), ...path].join('/'),
    stat: (path) => reach((storage) => storage.stat(path)),
    list: (path) =>
      reach(async (storage, hold) => {
        const batches = await storage.list(path);
        return batches && releasedAtEnd(batches, hold());
      }),
    page: (path, query) => reach((storage) => storage.page(path, query)),
    open: (path) => reach((storage) => storage.open(path)),
    createFolder: (parent, name, mark) => reach((storage) => storage.createFolder(parent, name, mark)),
    upload: (parent, token, expected) =>
      reach(async (storage, hold) => releasedBehind(await storage.upload(parent, token, expected), hold())),
    recover: (change) => reach((storage) => storage.recover(change)),
    clear: (change) => reach((storage) => storage.clear(change)),
    rename: (parent, from, to, mark) => reach((storage) => storage.rename(parent, from, to, mark)),
    remove: (parent, name, mark) => reach((storage) => storage.remove(parent, name, mark)),
    sweep: (underWay) => reach((storage) => storage.sweep(underWay)),
  };
}
