import fs from 'node:fs';
import type { PendingFileChange } from '#ports/storage.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { deleteMountNote, withRemainingEvidence } from './evidence.ts';
import { recoverFolder } from './make-folder.ts';
import { deleteMark, isConfirmed } from './marks.ts';
import type { ModeAndGroup } from './mode-and-group.ts';
import { deleteClaimNotes } from './name-claim.ts';
import { descriptorPath, type StorageRoot, withFolder } from './open-within-root.ts';
import { clearStaging, isStagingRenamed, recoveredName, recoverPlacing } from './place-file.ts';
import { clearRemoval, isRemoved, recoverRemoval } from './remove-entry.ts';
import { recoverRename } from './rename-entry.ts';
import type { DirectoryEntry } from './staging-area.ts';

/** Returns whether the evidence alone proves that the change took place, even if its result has been renamed since. */
function isProven({ action, token }: PendingFileChange, evidence: DirectoryEntry): boolean {
  if (action === 'delete') return isRemoved({ evidence, token });
  return isConfirmed(evidence) || (action === 'upload' && isStagingRenamed(evidence));
}

/** Repairs a half-done change in its folder. Returns whether the change took place. */
function recoverInFolder(change: PendingFileChange, entry: DirectoryEntry, evidence: DirectoryEntry, modeAndGroup: ModeAndGroup): boolean {
  const { token } = change;
  switch (change.action) {
    case 'upload':
      return recoverPlacing(evidence, entry);
    case 'createFolder':
      return recoverFolder(entry, evidence, modeAndGroup);
    case 'rename':
      return recoverRename({ old: entry, newEntry: { folder: entry.folder, name: change.newName }, token }, evidence);
    case 'delete':
      return recoverRemoval({ entry, evidence, token });
  }
}

/** Returns the name that a change created, renamed to or removed. */
const resultName = ({ action, name, newName }: PendingFileChange, evidence: DirectoryEntry) =>
  action === 'upload' ? recoveredName(evidence, name) : action === 'rename' ? newName : name;

function isEmpty(root: StorageRoot): boolean {
  const directory = fs.opendirSync(descriptorPath(root.descriptor, '.'), { bufferSize: 1 });
  try {
    return directory.readSync() === null;
  } finally {
    directory.closeSync();
  }
}

/**
 * Finds out whether a pending change took place, and repairs it if it was half done.
 * @returns the name that the change created, renamed to or removed, or null if the change did not take place
 * @throws StorageUnavailable if the root is empty or a mount in it is missing: a file system must be mounted there first
 * @throws ENOENT if the parent is missing, `.postern/` exists, and the evidence in it does not prove that the change took place
 */
export function recoverChange(root: StorageRoot, change: PendingFileChange, modeAndGroup: ModeAndGroup): string | null {
  if (isEmpty(root)) throw new StorageUnavailable('the folder of the location is empty');
  return withRemainingEvidence(root, change.parent, change.token, (evidence) => {
    const tookPlace =
      isProven(change, evidence) ||
      withFolder(root, change.parent, (folder) => recoverInFolder(change, { folder, name: change.name }, evidence, modeAndGroup));
    return tookPlace ? resultName(change, evidence) : null;
  });
}

/** Removes the evidence of a change. Call it only after the outcome of the change is recorded. */
export function clearEvidence(root: StorageRoot, { action, parent, token }: PendingFileChange): void {
  withRemainingEvidence(root, parent, token, (evidence) => {
    if (action === 'delete') clearRemoval(evidence);
    else if (action === 'upload') clearStaging(evidence);
    else deleteMark(evidence);
    if (action === 'rename') deleteClaimNotes(evidence);
    deleteMountNote(root, token, evidence);
  });
}
