import fs from 'node:fs';
import { type BegunChange, StorageAway } from '#ports/storage.ts';
import { atLeftSpot, type Spot } from './aside.ts';
import { at, inFolder, type Root } from './beneath.ts';
import { settleFolder } from './make-folder.ts';
import { dropMark, isConfirmed } from './marks.ts';
import type { Ownership } from './ownership.ts';
import { clearStaging, isRenamed, placedName, settlePlacing } from './placing.ts';
import { clearRemoval, isRemoved, settleRemoval } from './remove-entry.ts';
import { settleRename } from './rename-entry.ts';

/** Does what lies aside tell that the change took place? Then nothing that happened to its name since matters. */
function isEvident({ does, token }: BegunChange, aside: Spot): boolean {
  if (does === 'delete') return isRemoved({ aside, token });
  return isConfirmed(aside) || (does === 'upload' && isRenamed(aside));
}

/** Looks at the folder for what lies aside does not tell, and puts right what was left half done. */
function look(change: BegunChange, entry: Spot, aside: Spot, ownership: Ownership): Promise<boolean> | boolean {
  const { token } = change;
  switch (change.does) {
    case 'upload':
      return settlePlacing(aside, entry.folder);
    case 'createFolder':
      return settleFolder(entry, aside, ownership);
    case 'rename':
      return settleRename({ old: entry, renamed: { folder: entry.folder, name: change.newName }, token }, aside);
    case 'delete':
      return settleRemoval({ entry, aside, token });
  }
}

/** The name that a change gave, or took. */
const nameGiven = ({ does, name, newName }: BegunChange, aside: Spot) =>
  does === 'upload' ? placedName(aside, name) : does === 'rename' ? newName : name;

/**
 * Did a change that was recorded as begun take place before the crash? Puts right what it left half done.
 * @returns the name that it gave or took; null: it did not take place
 * @throws StorageAway for a root without any entry: something is to be mounted there, or nothing was begun
 */
export async function settle(root: Root, change: BegunChange, ownership: Ownership): Promise<string | null> {
  if ((await fs.promises.readdir(at(root.descriptor, '.'))).length === 0) throw new StorageAway('the folder of the location is empty');
  return atLeftSpot(root, change.parent, change.token, async (aside) => {
    const took =
      isEvident(change, aside) ||
      (await inFolder(root, change.parent, (folder) => look(change, { folder, name: change.name }, aside, ownership)));
    return took ? nameGiven(change, aside) : null;
  });
}

/** Removes what told how a change came out: by then that is recorded. */
export async function clear(root: Root, { does, parent, token }: BegunChange): Promise<void> {
  await atLeftSpot(root, parent, token, (aside) => {
    if (does === 'delete') return clearRemoval(aside);
    return does === 'upload' ? clearStaging(aside) : dropMark(aside);
  });
}
