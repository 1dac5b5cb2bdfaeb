import fs from 'node:fs';
import { type BegunChange, StorageAway } from '#ports/storage.ts';
import { dropMountNote, withRemainingEvidence } from './evidence.ts';
import { settleFolder } from './make-folder.ts';
import { dropMark, isConfirmed } from './marks.ts';
import { at, inFolder, type Root } from './open-within-root.ts';
import type { Ownership } from './ownership.ts';
import { clearStaging, isRenamed, placedName, settlePlacing } from './placing.ts';
import { clearRemoval, isRemoved, settleRemoval } from './remove-entry.ts';
import { settleRename } from './rename-entry.ts';
import type { DirectoryEntry } from './staging-area.ts';

/** Returns whether the staging area alone shows that the change took place, whatever happened to its name since. */
function isEvident({ does, token }: BegunChange, evidence: DirectoryEntry): boolean {
  if (does === 'delete') return isRemoved({ evidence, token });
  return isConfirmed(evidence) || (does === 'upload' && isRenamed(evidence));
}

/** Looks at the folder where the staging area does not show it, and repairs what was left half done. */
function look(change: BegunChange, entry: DirectoryEntry, evidence: DirectoryEntry, ownership: Ownership): Promise<boolean> | boolean {
  const { token } = change;
  switch (change.does) {
    case 'upload':
      return settlePlacing(evidence, entry);
    case 'createFolder':
      return settleFolder(entry, evidence, ownership);
    case 'rename':
      return settleRename({ old: entry, renamed: { folder: entry.folder, name: change.newName }, token }, evidence);
    case 'delete':
      return settleRemoval({ entry, evidence, token });
  }
}

/** Returns the name that a change gave, or took. */
const nameGiven = ({ does, name, newName }: BegunChange, evidence: DirectoryEntry) =>
  does === 'upload' ? placedName(evidence, name) : does === 'rename' ? newName : name;

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
export async function settle(root: Root, change: BegunChange, ownership: Ownership): Promise<string | null> {
  if (await isEmpty(root)) throw new StorageAway('the folder of the location is empty');
  return withRemainingEvidence(root, change.parent, change.token, async (evidence) => {
    const took =
      isEvident(change, evidence) ||
      (await inFolder(root, change.parent, (folder) => look(change, { folder, name: change.name }, evidence, ownership)));
    return took ? nameGiven(change, evidence) : null;
  });
}

/** Removes what told how a change came out: by then that is recorded. */
export async function clear(root: Root, { does, parent, token }: BegunChange): Promise<void> {
  await withRemainingEvidence(root, parent, token, async (evidence) => {
    if (does === 'delete') await clearRemoval(evidence);
    else if (does === 'upload') clearStaging(evidence);
    else dropMark(evidence);
    await dropMountNote(root, token, evidence);
  });
}
