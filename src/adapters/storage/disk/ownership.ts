import fs from 'node:fs';
import { codeOf } from './disk-errors.ts';

/** Rights and group of what visitors bring; null: as the folder has them in which it comes to lie. */
export interface Ownership {
  readonly fileMode: number | null;
  readonly folderMode: number | null;
  readonly group: number | null;
}

/** What a folder passes on to new files and folders where nothing else is set. */
export const inherited: Ownership = { fileMode: null, folderMode: null, group: null };

const withoutRunning = 0o666; // a folder's right to be entered is none for a file to be run
const withSetGid = 0o2777;

/** The group is given where the process may give it: as root, or as one of that group. */
function giveGroup(descriptor: number, group: number): void {
  try {
    fs.fchownSync(descriptor, -1, group);
  } catch {
    // the file stays of the process's own group
  }
}

/** Gives a new file or folder its rights, whatever the umask: the users of a file server go on reading what lies there. */
export function setOwnership(made: number, parent: number, { fileMode, folderMode, group }: Ownership): void {
  const [stat, around] = [fs.fstatSync(made), fs.fstatSync(parent)];
  const wanted = group ?? around.gid;
  if (stat.gid !== wanted) giveGroup(made, wanted);
  const set = stat.isDirectory() ? folderMode : fileMode;
  giveMode(made, stat.mode, set ?? around.mode & (stat.isDirectory() ? withSetGid : withoutRunning), set !== null);
}

/** Some mounts know no rights: that keeps no upload out, where the operator has not set any. */
function giveMode(descriptor: number, present: number, mode: number, isSet: boolean): void {
  if ((present & 0o7777) === mode) return;
  try {
    fs.fchmodSync(descriptor, mode);
  } catch (cause) {
    if (isSet || !['EPERM', 'ENOTSUP', 'ENOSYS'].includes(codeOf(cause))) throw cause;
  }
}
