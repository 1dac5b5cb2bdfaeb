import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { promisify } from 'node:util';
import { ItemAbsent, type Storage, StorageAway } from '#ports/storage.ts';
import { at, inFolder, isThere, openFolder, type Root } from './beneath.ts';
import { codeOf, failure, isAbsent, onceDone, rootGone, storageError } from './disk-errors.ts';
import { asideFolder, beginUpload, besideName, besideNames, openAside } from './disk-upload.ts';
import type { FreeSpaceFloor } from './free-space.ts';
import type { Lister } from './lister.ts';
import { type Ownership, setOwnership } from './ownership.ts';
import { dropOldName, linkFile, renameFolder, type Spot } from './placing.ts';
import type { Reader } from './reader.ts';
import { wipe } from './remove-tree.ts';
import { clearStaging, settle } from './settle.ts';

const fsync = promisify(fs.fsync);
const fresh = () => `rm-${randomBytes(12).toString('hex')}`;

/** Another file system below the location: put aside beside its place. */
async function removeBeside(parent: number, name: string, token: string): Promise<void> {
  fs.renameSync(at(parent, name), at(parent, besideName(token)));
  await fsync(parent);
  await wipe(parent, besideName(token), besideNames(token));
}

/** What holds for everything that is written. */
export interface WritingRules {
  readonly floor: FreeSpaceFloor;
  readonly ownership: Ownership;
}

/** Files under one folder of this machine, reached without following links (design: disk). */
export function diskStorage(root: Root, lister: Lister, reader: Reader, { floor, ownership }: WritingRules): Storage {
  let looking: Promise<boolean> | undefined;
  /** One look for all who ask meanwhile: a disk that hangs fills no pool. */
  const isStillThere = () => {
    looking ??= isThere(root).finally(() => {
      looking = undefined;
    });
    return looking;
  };
  /** Absent is an answer only while the root itself is there. */
  async function told<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      if (isAbsent(cause) && !(await isStillThere())) throw new StorageAway('the folder of the location is gone', { cause });
      throw storageError(cause);
    }
  }
  /** Nothing is begun in a folder that its path no longer leads to. */
  const guarded = <T>(work: () => Promise<T>) =>
    told(async () => {
      if (!(await isStillThere())) throw failure(rootGone);
      return work();
    });
  const nullIfAbsent = (cause: unknown) => {
    if (cause instanceof ItemAbsent) return null;
    throw cause;
  };
  const orNull = <T>(work: () => Promise<T | null>) => guarded(work).catch(nullIfAbsent);

  async function rename(parent: number, from: string, to: string, token: string): Promise<void> {
    const [old, renamed]: [Spot, Spot] = [
      { folder: parent, name: from },
      { folder: parent, name: to },
    ];
    const stat = fs.lstatSync(at(parent, from));
    if (stat.isDirectory()) renameFolder(old, renamed);
    else if (!stat.isFile()) throw new ItemAbsent('neither file nor folder');
    else if (linkFile(old, renamed)) dropOldName(old, renamed, token);
    else {
      if (fs.lstatSync(at(parent, to), { throwIfNoEntry: false })) throw Object.assign(new Error('taken'), { code: 'EEXIST' });
      fs.renameSync(at(parent, from), at(parent, to));
    }
    await onceDone(() => fsync(parent));
  }

  async function remove(parent: number, name: string, token: string): Promise<void> {
    const stat = fs.lstatSync(at(parent, name));
    if (!stat.isFile() && !stat.isDirectory()) throw new ItemAbsent('neither file nor folder');
    const trash = await openAside(root);
    const aside = `rm-${token}`;
    try {
      fs.renameSync(at(parent, name), at(trash, aside));
    } catch (cause) {
      fs.closeSync(trash);
      if (codeOf(cause) !== 'EXDEV') throw cause;
      return removeBeside(parent, name, token);
    }
    // It is gone for every visitor; what is left of it is swept at the next start at the latest.
    void wipe(trash, aside, fresh)
      .catch(() => {})
      .finally(() => fs.closeSync(trash));
    await onceDone(() => fsync(parent));
  }

  return {
    check: () => guarded(async () => undefined),
    onDisk: (path) => [root.path, ...path].join('/'),
    // The reader looks at the root itself.
    stat: (path) => told(() => reader.stat(path)).catch(nullIfAbsent),
    list: (path) =>
      orNull(async () => {
        const folder = await openFolder(root, path);
        return lister.list(folder, () => fs.closeSync(folder));
      }),
    page: (path, query) => orNull(() => inFolder(root, path, (folder) => lister.page(folder, query))),
    open: (path) => told(() => reader.open(path)).catch(nullIfAbsent),
    createFolder: (parent, name) =>
      guarded(() =>
        inFolder(root, parent, async (folder) => {
          fs.mkdirSync(at(folder, name), 0o700);
          await onceDone(async () => {
            await inFolder(root, [...parent, name], (made) => setOwnership(made, folder, ownership));
            await fsync(folder);
          });
        }),
      ),
    upload: (parent, token, expected) =>
      guarded(() => beginUpload(root, { parent, token, expected: expected ?? null }, { floor, ownership }, { told, guarded })),
    settle: (change) => guarded(() => settle(root, change)),
    clear: (change) => guarded(() => clearStaging(root, change)),
    rename: (parent, from, to, token) => guarded(() => inFolder(root, parent, (folder) => rename(folder, from, to, token))),
    remove: (parent, name, token) => guarded(() => inFolder(root, parent, (folder) => remove(folder, name, token))),
    sweep: (underWay) =>
      guarded(async () => {
        if (!fs.lstatSync(at(root.descriptor, asideFolder), { throwIfNoEntry: false })) return;
        const trash = await openAside(root);
        try {
          const names = await fs.promises.readdir(at(trash));
          // Asked after the look: what begins meanwhile is not among them.
          const kept = await underWay();
          for (const name of names) if (!kept.some((token) => name.includes(token))) await wipe(trash, name, fresh);
        } finally {
          fs.closeSync(trash);
        }
      }),
  };
}
