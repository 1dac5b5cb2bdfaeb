import type { BegunChange } from '#ports/storage.ts';
import { atAsideSpot, type Spot } from './aside.ts';
import { inFolder, type Root } from './beneath.ts';
import { wasFolderMade } from './make-folder.ts';
import { dropMark } from './marks.ts';
import { clearStaging, settlePlacing } from './placing.ts';
import { clearRemoval, settleRemoval } from './remove-entry.ts';
import { settleRename } from './rename-entry.ts';

/** Runs `work` on the spot that a change is about, and on that of what it put aside. */
const atSpots = <T>(root: Root, { parent, name, token }: BegunChange, work: (entry: Spot, aside: Spot) => Promise<T> | T): Promise<T> =>
  atAsideSpot(root, parent, token, (aside) => inFolder(root, parent, (folder) => work({ folder, name }, aside)));

/** Did a change that was recorded as begun take place before the crash? Puts right what it left half done. */
export const settle = (root: Root, change: BegunChange): Promise<boolean> =>
  atSpots(root, change, (entry, aside) => {
    const { token } = change;
    switch (change.does) {
      case 'upload':
        return settlePlacing(aside, entry.folder);
      case 'createFolder':
        return wasFolderMade(entry, aside);
      case 'rename':
        return settleRename({ old: entry, renamed: { folder: entry.folder, name: change.newName }, token }, aside);
      case 'delete':
        return settleRemoval({ entry, aside, token });
    }
  });

/** Removes what told how a change came out: by then that is recorded. */
export const clear = (root: Root, change: BegunChange): Promise<void> =>
  atSpots(root, change, (entry, aside) => {
    if (change.does === 'delete') return clearRemoval({ entry, aside, token: change.token });
    return change.does === 'upload' ? clearStaging(aside) : dropMark(aside);
  });
