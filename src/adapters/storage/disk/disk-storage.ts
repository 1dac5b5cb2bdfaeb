import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { promisify } from 'node:util';
import type { ItemPath } from '#core/item-path.ts';
import { type ChangeContext, ItemNotFound, type Storage, StorageUnavailable } from '#ports/storage.ts';
import { afterCommitPoint, errorWithCode, isAbsentError, rootGoneCode, toStorageError } from './disk-errors.ts';
import { beginUpload } from './disk-upload.ts';
import { withEvidence } from './evidence.ts';
import type { FreeSpaceFloor } from './free-space.ts';
import { makeFolder } from './make-folder.ts';
import type { Marks } from './marks.ts';
import type { OpenFolder } from './open-folders.ts';
import { descriptorPath, isRootPresent, openFolder, withFolder } from './open-within-root.ts';
import type { Ownership } from './ownership.ts';
import { clearEvidence, recoverChange } from './recover-change.ts';
import { removeEntry } from './remove-entry.ts';
import { deleteTree } from './remove-tree.ts';
import { renameEntry } from './rename-entry.ts';
import { type DirectoryEntry, openStagingArea, stagingFolder } from './staging-area.ts';

const fsync = promisify(fs.fsync);

/** Rules for all files and folders that visitors create. */
export interface WritingRules {
  readonly floor: FreeSpaceFloor;
  readonly ownership: Ownership;
}

/** Returns the storage of an open folder of this machine. No symbolic link is followed (design: disk). */
export function diskStorage({ root, lister, reader }: OpenFolder, { floor, ownership }: WritingRules): Omit<Storage, 'check' | 'diskPath'> {
  let pendingCheck: Promise<boolean> | undefined;
  /** Shares one check between concurrent callers, so that a hung disk does not fill the thread pool. */
  const isRootThere = () => {
    pendingCheck ??= isRootPresent(root).finally(() => {
      pendingCheck = undefined;
    });
    return pendingCheck;
  };
  /** Converts errors of system calls. ENOENT proves that an item is absent only while the root itself is there. */
  async function withStorageErrors<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      if (isAbsentError(cause) && !(await isRootThere()))
        throw new StorageUnavailable('the folder of the location no longer exists', { cause });
      throw toStorageError(cause);
    }
  }
  /** Runs `work` only if the root's path still leads to the open folder: otherwise changes would go into a folder that nobody sees. */
  const withRootCheck = <T>(work: () => Promise<T>) =>
    withStorageErrors(async () => {
      if (!(await isRootThere())) throw errorWithCode(rootGoneCode);
      return work();
    });
  const nullIfAbsent = (cause: unknown) => {
    if (cause instanceof ItemNotFound) return null;
    throw cause;
  };
  const orNull = <T>(work: () => Promise<T | null>) => withRootCheck(work).catch(nullIfAbsent);

  /**
   * Changes an entry of a folder, and syncs the folder.
   * @param change receives the entry, and the marks for recovery
   */
  const changeEntry = (
    parent: ItemPath,
    name: string,
    { token, pendingTokens: overtaken, confirm }: ChangeContext,
    change: (entry: DirectoryEntry, marks: Marks) => unknown,
  ) =>
    withRootCheck(() =>
      withEvidence(root, parent, token, (own) =>
        withFolder(root, parent, async (folder) => {
          const evidenceOf = (otherToken: string): DirectoryEntry => ({ folder: own.folder, name: own.name.replace(token, otherToken) });
          await confirm?.();
          await change({ folder, name }, { own, pendingMarks: overtaken.map(evidenceOf) });
          await afterCommitPoint(() => fsync(folder));
        }),
      ),
    );

  return {
    // The reader checks the root in its own thread.
    stat: (path) => withStorageErrors(() => reader.stat(path)).catch(nullIfAbsent),
    list: (path) =>
      orNull(async () => {
        const folder = await openFolder(root, path);
        return lister.list(folder, () => fs.closeSync(folder));
      }),
    page: (path, query) => orNull(() => withFolder(root, path, (folder) => lister.page(folder, query))),
    open: (path) => withStorageErrors(() => reader.open(path)).catch(nullIfAbsent),
    createFolder: (parent, name, mark) => changeEntry(parent, name, mark, (entry, marks) => makeFolder(entry, marks, ownership)),
    upload: (parent, token, expected) =>
      withRootCheck(() =>
        beginUpload(root, { parent, token, expected: expected ?? null }, { floor, ownership }, { withStorageErrors, withRootCheck }),
      ),
    recover: (change) => withRootCheck(() => recoverChange(root, change, ownership)),
    clearEvidence: (change) => withRootCheck(() => clearEvidence(root, change)),
    rename: (parent, from, to, mark) =>
      changeEntry(parent, from, mark, (old, marks) =>
        renameEntry({ old, renamed: { folder: old.folder, name: to }, token: mark.token }, marks),
      ),
    remove: (parent, name, mark) =>
      changeEntry(parent, name, { ...mark, pendingTokens: [] }, (entry, { own: evidence }) =>
        removeEntry({ entry, evidence, token: mark.token }),
      ),
    sweep: (listActiveTokens) =>
      withRootCheck(async () => {
        if (!fs.lstatSync(descriptorPath(root.descriptor, stagingFolder), { throwIfNoEntry: false })) return;
        const trash = await openStagingArea(root);
        try {
          const names = await fs.promises.readdir(descriptorPath(trash));
          // Queried after the folder was read: a change that begins in between is not among the names.
          const activeTokens = await listActiveTokens();
          for (const name of names.filter((name) => !activeTokens.some((token) => name.includes(token))))
            await deleteTree(trash, name, () => `rm-${randomBytes(12).toString('hex')}`).catch(() => {}); // an undeletable entry stays
        } finally {
          fs.closeSync(trash);
        }
      }),
  };
}
