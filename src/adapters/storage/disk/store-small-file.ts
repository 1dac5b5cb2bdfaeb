import fs from 'node:fs';
import type { ItemPath } from '#core/item-path.ts';
import { type ConfirmedAt, hasExpired } from './confirmation.ts';
import { afterCommitPoint, runDiskChange } from './disk-errors.ts';
import type { FreeSpaceFloor } from './free-space.ts';
import { deleteDoneMark } from './marks.ts';
import { setModeAndGroup } from './mode-and-group.ts';
import { openFolder, type StorageRoot } from './open-within-root.ts';
import { moveByLink } from './place-file.ts';
import {
  closeStaged,
  discardStaged,
  openStagedUpload,
  type Placing,
  placeUnderFreeName,
  type StagedUpload,
  syncStaged,
  writeStaged,
} from './staged-upload.ts';
import { openStagingFolder } from './staging-area.ts';

/** A small file whose content is known. */
export interface SmallFile {
  readonly parent: ItemPath;
  readonly token: string;
  readonly content: Uint8Array;
}

/** How a small file is stored. */
export interface SmallFileOptions {
  readonly freeSpace: FreeSpaceFloor;
  readonly confirmedAt: ConfirmedAt;
  /** Token of an earlier upload whose mark this one may use; null: none. */
  readonly spareMark: string | null;
}

/** The name of a file that is in place, or a staging file that `placeStaged` must put in place. */
export type StoredSmallFile = { readonly name: string } | { readonly staged: StagedUpload };

/** Creates a staging file, and syncs its content but not its name. @throws ENOSPC if there is no space for it; no file is left then */
function stageSmallFile(root: StorageRoot, { parent, token, content }: SmallFile, freeSpace: FreeSpaceFloor): StagedUpload {
  const staged = openStagedUpload(root, { parent, token, size: content.length }, freeSpace);
  try {
    writeStaged(staged, content, 0);
    syncStaged(staged);
    return staged;
  } catch (cause) {
    discardStaged(root, staged);
    throw cause;
  }
}

/** Puts a staging file in place by a hard link, durably. @returns its name; null if no hard link is possible */
function moveDurably(
  root: StorageRoot,
  { file, staging }: StagedUpload,
  { parent, names, modeAndGroup }: Placing,
  spareMark: string | null,
): string | null {
  const folder = openFolder(root, parent);
  const spare = spareMark === null ? null : { folder: staging.folder, name: spareMark };
  try {
    setModeAndGroup(file, folder, modeAndGroup);
    const { name, result: isMoved } = placeUnderFreeName(names, (freeName, isFirst) =>
      moveByLink(staging, { folder, name: freeName }, isFirst, spare),
    );
    if (!isMoved) return null;
    afterCommitPoint(() => fs.fsyncSync(folder));
    return name;
  } finally {
    fs.closeSync(folder);
  }
}

/**
 * Stores a small file durably. Puts it in place if its name must be free, the evidence is in `.postern/`, `confirmedAt` has not expired and
 * a hard link is possible. Otherwise the file is only staged: to put it in place, it needs a turn among the changes of the location.
 * @throws ENOSPC while staging: no file is left. Later errors leave the staging file: EEXIST if no name is free, others as `runDiskChange`
 */
export function storeSmallFile(
  root: StorageRoot,
  file: SmallFile,
  placing: Placing,
  { freeSpace, confirmedAt, spareMark }: SmallFileOptions,
): StoredSmallFile {
  const staged = stageSmallFile(root, file, freeSpace);
  if (placing.replaces !== null || staged.staging.name !== file.token || hasExpired(confirmedAt)) return { staged };
  try {
    const name = runDiskChange(() => moveDurably(root, staged, placing, spareMark));
    if (name === null) return { staged };
    closeStaged(staged);
    return { name };
  } catch (cause) {
    closeStaged(staged);
    throw cause;
  }
}

/** Deletes the marks of files that `storeSmallFile` has put in place. */
export function deleteSpareMarks(root: StorageRoot, tokens: readonly string[]): void {
  const folder = openStagingFolder(root);
  try {
    for (const name of tokens) deleteDoneMark({ folder, name });
  } finally {
    fs.closeSync(folder);
  }
}
