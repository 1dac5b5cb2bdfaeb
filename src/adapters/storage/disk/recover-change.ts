import fs from 'node:fs';
import { type PendingFileChange, StorageAway } from '#ports/storage.ts';
import { dropMountNote, withRemainingEvidence } from './evidence.ts';
import { recoverFolder } from './make-folder.ts';
import { dropMark, isConfirmed } from './marks.ts';
import { at, inFolder, type Root } from './open-within-root.ts';
import type { Ownership } from './ownership.ts';
import { clearStaging, isRenamed, recoveredName, recoverPlacing } from './placing.ts';
import { clearRemoval, isRemoved, recoverRemoval } from './remove-entry.ts';
import { recoverRename } from './rename-entry.ts';
import type { DirectoryEntry } from './staging-area.ts';

/** Returns whether the staging area alone shows that the change took place, whatever happened to its name since. */
function isEvident({ action, token }: PendingFileChange, evidence: DirectoryEntry): boolean {
  if (action === 'delete') return isRemoved({ evidence, token });
  return isConfirmed(evidence) || (action === 'upload' && isRenamed(evidence));
}

/** Looks at the folder where the staging area action not show it, and repairs what was left half done. */
function look(
  change: PendingFileChange,
  entry: DirectoryEntry,
  evidence: DirectoryEntry,
  ownership: Ownership,
): Promise<boolean> | boolean {
  const { token } = change;
  switch (change.action) {
    case 'upload':
      return recoverPlacing(evidence, entry);
    case 'createFolder':
      return recoverFolder(entry, evidence, ownership);
    case 'rename':
      return recoverRename({ old: entry, renamed: { folder: entry.folder, name: change.newName }, token }, evidence);
    case 'delete':
      return recoverRemoval({ entry, evidence, token });
  }
}

/** Returns the name that a change gave, or took. */
const nameGiven = ({ action, name, newName }: PendingFileChange, evidence: DirectoryEntry) =>
  action === 'upload' ? recoveredName(evidence, name) : action === 'rename' ? newName : name;

async function isEmpty(root: Root): Promise<boolean> {
  const directory = await fs.promises.opendir(at(root.descriptor, '.'), { bufferSize: 1 });
  try {
    return (await directory.read()) === null;
  } finally {
    await directory.close();
  }
}

/**
 * Did a change that was recorded as begun take place before the crash? Puts right what it left half done.
 * @returns the name that it gave or took; null: it did not take place
 * @throws StorageAway for a root without any entry, or a mount that is missing below it: something is to be mounted there
 */
export async function recoverChange(root: Root, change: PendingFileChange, ownership: Ownership): Promise<string | null> {
  if (await isEmpty(root)) throw new StorageAway('the folder of the location is empty');
  return withRemainingEvidence(root, change.parent, change.token, async (evidence) => {
    const took =
      isEvident(change, evidence) ||
      (await inFolder(root, change.parent, (folder) => look(change, { folder, name: change.name }, evidence, ownership)));
    return took ? nameGiven(change, evidence) : null;
  });
}

/** Removes what told how a change came out: by then that is recorded. */
export async function clearEvidence(root: Root, { action, parent, token }: PendingFileChange): Promise<void> {
  await withRemainingEvidence(root, parent, token, async (evidence) => {
    if (action === 'delete') await clearRemoval(evidence);
    else if (action === 'upload') clearStaging(evidence);
    else dropMark(evidence);
    await dropMountNote(root, token, evidence);
  });
}
