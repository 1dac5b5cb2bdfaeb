import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { promisify } from 'node:util';
import type { ItemPath } from '#core/item-path.ts';
import { type ChangeMark, ItemAbsent, type Storage, StorageAway } from '#ports/storage.ts';
import { afterCommitPoint, failure, isAbsent, rootGone, storageError } from './disk-errors.ts';
import { beginUpload } from './disk-upload.ts';
import { withEvidence } from './evidence.ts';
import type { FreeSpaceFloor } from './free-space.ts';
import { makeFolder } from './make-folder.ts';
import type { Marks } from './marks.ts';
import type { OpenFolder } from './open-folders.ts';
import { at, inFolder, isThere, openFolder } from './open-within-root.ts';
import type { Ownership } from './ownership.ts';
import { clearEvidence, recoverChange } from './recover-change.ts';
import { removeEntry } from './remove-entry.ts';
import { deleteTree } from './remove-tree.ts';
import { renameEntry } from './rename-entry.ts';
import { type DirectoryEntry, openStagingArea, stagingFolder } from './staging-area.ts';

const fsync = promisify(fs.fsync);

/** What holds for everything that is written. */
export interface WritingRules {
  readonly floor: FreeSpaceFloor;
  readonly ownership: Ownership;
}

/** Files under one folder of this machine that is open, reached without following links (design: disk). */
export function diskStorage({ root, lister, reader }: OpenFolder, { floor, ownership }: WritingRules): Omit<Storage, 'check' | 'onDisk'> {
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

  /** Runs a change of an entry, and syncs its folder. @param change gets the entry, and the marks for recovery */
  const changeEntry = (
    parent: ItemPath,
    name: string,
    { token, overtaken, confirm }: ChangeMark,
    change: (entry: DirectoryEntry, marks: Marks) => unknown,
  ) =>
    guarded(() =>
      withEvidence(root, parent, token, (own) =>
        inFolder(root, parent, async (folder) => {
          const markOf = (other: string): DirectoryEntry => ({ folder: own.folder, name: own.name.replace(token, other) });
          await confirm?.();
          await change({ folder, name }, { own, overtaken: overtaken.map(markOf) });
          await afterCommitPoint(() => fsync(folder));
        }),
      ),
    );

  return {
    // The reader looks at the root itself.
    stat: (path) => told(() => reader.stat(path)).catch(nullIfAbsent),
    list: (path) =>
      orNull(async () => {
        const folder = await openFolder(root, path);
        return lister.list(folder, () => fs.closeSync(folder));
      }),
    page: (path, query) => orNull(() => inFolder(root, path, (folder) => lister.page(folder, query))),
    open: (path) => told(() => reader.open(path)).catch(nullIfAbsent),
    createFolder: (parent, name, mark) => changeEntry(parent, name, mark, (entry, marks) => makeFolder(entry, marks, ownership)),
    upload: (parent, token, expected) =>
      guarded(() => beginUpload(root, { parent, token, expected: expected ?? null }, { floor, ownership }, { told, guarded })),
    recover: (change) => guarded(() => recoverChange(root, change, ownership)),
    clear: (change) => guarded(() => clearEvidence(root, change)),
    rename: (parent, from, to, mark) =>
      changeEntry(parent, from, mark, (old, marks) =>
        renameEntry({ old, renamed: { folder: old.folder, name: to }, token: mark.token }, marks),
      ),
    remove: (parent, name, mark) =>
      changeEntry(parent, name, { ...mark, overtaken: [] }, (entry, { own: evidence }) =>
        removeEntry({ entry, evidence, token: mark.token }),
      ),
    sweep: (underWay) =>
      guarded(async () => {
        if (!fs.lstatSync(at(root.descriptor, stagingFolder), { throwIfNoEntry: false })) return;
        const trash = await openStagingArea(root);
        try {
          const names = await fs.promises.readdir(at(trash));
          // Asked after the look: what begins meanwhile is not among them.
          const kept = await underWay();
          for (const name of names.filter((name) => !kept.some((token) => name.includes(token))))
            await deleteTree(trash, name, () => `rm-${randomBytes(12).toString('hex')}`).catch(() => {}); // what cannot be removed stays
        } finally {
          fs.closeSync(trash);
        }
      }),
  };
}
