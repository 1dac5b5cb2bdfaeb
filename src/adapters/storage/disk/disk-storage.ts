import type { FilledRun } from '#ports/file-runs.ts';
import type { ChangeContext, ContinuedUpload, Storage } from '#ports/storage.ts';
import { ItemNotFound } from '#ports/storage-errors.ts';
import type { EntryChange } from './change-entry.ts';
import { createStagingFile } from './create-staging-file.ts';
import { ConfirmationExpired } from './disk-errors.ts';
import { diskFile } from './disk-file.ts';
import { DiskUpload } from './disk-upload.ts';
import type { FreeSpaceFloor } from './free-space.ts';
import type { ModeAndGroup } from './mode-and-group.ts';
import { monotonicTime } from './monotonic-time.ts';
import type { OpenFolder } from './open-folders.ts';
import { placingOf } from './place-upload.ts';
import { possibleTokens } from './possible-tokens.ts';
import { maxSmallUpload, SmallUpload } from './small-upload.ts';

/** Rules for all files and folders that visitors create. */
export interface WritingRules {
  readonly floor: FreeSpaceFloor;
  readonly modeAndGroup: ModeAndGroup;
}

/** The methods of a storage that run commands in its open folder. */
export interface FolderStorage
  extends Omit<
    Storage,
    'traits' | 'check' | 'folderKey' | 'pathOnDisk' | 'signedAddress' | 'testSteps' | 'readRun' | 'continueUpload' | 'giveUp'
  > {
  readRun(...parameters: Parameters<NonNullable<Storage['readRun']>>): Promise<FilledRun>;
  continueUpload(...parameters: Parameters<NonNullable<Storage['continueUpload']>>): Promise<ContinuedUpload>;
}

/** Returns the result of work, or null if its item does not exist. */
async function orNull<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (cause) {
    if (cause instanceof ItemNotFound) return null;
    throw cause;
  }
}

type NameOfChange = Pick<EntryChange, 'parent' | 'name'>;
type DiskChange = (change: EntryChange) => Promise<number>;

/** Returns the storage of an open folder of this machine. It follows no symbolic links. */
export function diskStorage(
  { threads, lookups, lists, pages, buffers, writeBuffers, spareMarks }: OpenFolder,
  { floor, modeAndGroup }: WritingRules,
): FolderStorage {
  const { changes, data, removals, syncs } = threads;
  /** Confirms a change and makes it. Confirms it again if the disk took so long that the confirmation has expired. */
  async function confirmAndChange(
    name: NameOfChange,
    { token, pendingTokens, confirm }: ChangeContext,
    change: DiskChange,
  ): Promise<number> {
    for (;;) {
      await confirm?.();
      try {
        return await change({ ...name, token, pendingTokens, confirmedAt: confirm ? monotonicTime() : null });
      } catch (cause) {
        if (!(cause instanceof ConfirmationExpired)) throw cause;
      }
    }
  }
  async function changeEntry(name: NameOfChange, context: ChangeContext, change: DiskChange): Promise<void> {
    const folder = await confirmAndChange(name, context, change).finally(() => pages.clear());
    await syncs.run('syncFolder', [folder], { client: context.client, always: true });
  }

  return {
    stat: (path) => orNull(lookups.stat(path)),
    list: (path, client) => orNull(lists.list(path, client)),
    page: (path, query) => orNull(pages.read(path, query)),
    async open(path, client) {
      const file = await orNull(lookups.open(path));
      return file && diskFile(file, threads, buffers, client);
    },
    readRun: (files, buffer, client) => data.run('readRun', [files, buffer], { client, moved: [buffer], onLateResult: () => {} }),
    async upload(target, token) {
      const { size } = target;
      const placing = placingOf(target, modeAndGroup);
      if (size !== null && size <= maxSmallUpload)
        return new SmallUpload({ target: { ...target, size }, token, placing, floor }, { threads, pages, spareMarks });
      const stagingFile = await createStagingFile(threads, { target, token, floor });
      return new DiskUpload(stagingFile, target, placing, { threads, pages, writeBuffers });
    },
    async continueUpload(target, closedUpload) {
      const { token, offset } = closedUpload;
      const { parent, size, client } = target;
      const stagingFile = await data.run('reopenUpload', [parent, token, offset, size, floor], {
        client,
        onLateResult: (upload) => void data.run('closeUpload', [upload], { client, always: true }).catch(() => {}), // nobody waits for it
      });
      return new DiskUpload(stagingFile, target, placingOf(target, modeAndGroup), { threads, pages, writeBuffers }, closedUpload);
    },
    createFolder: (parent, name, context) =>
      changeEntry({ parent, name }, context, (change) => changes.run('createFolder', [change, modeAndGroup], { client: context.client })),
    rename: (parent, name, newName, context) =>
      changeEntry({ parent, name }, context, (change) => changes.run('rename', [change, newName], { client: context.client })),
    remove: (parent, name, context) =>
      changeEntry({ parent, name }, { ...context, pendingTokens: [] }, (change) =>
        changes.run('remove', [change], { client: context.client }),
      ),
    recover: (change) => changes.run('recover', [change, modeAndGroup]).finally(() => pages.clear()),
    clearEvidence: (change) => (change.action === 'delete' ? removals : changes).run('clearEvidence', [change]),
    async sweep(findTokensInUse, signal) {
      const names = (await removals.run('stagedNames', [])) ?? [];
      // The tokens are looked up after the names: otherwise the files of a change that began in between would be deleted.
      const tokensInUse = new Set(names.length === 0 ? [] : await findTokensInUse(names.flatMap(possibleTokens)));
      for (const name of names) {
        signal?.throwIfAborted();
        if (possibleTokens(name).some((token) => tokensInUse.has(token))) continue;
        await removals.run('deleteStagedName', [name]).catch(() => {}); // an entry that cannot be deleted stays
      }
    },
  };
}
