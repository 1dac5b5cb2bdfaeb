import fs from 'node:fs';
import { systemErrorCode } from './disk-errors.ts';

/** Mode and group of files and folders that visitors create. null: inherited from the parent folder. */
export interface ModeAndGroup {
  readonly fileMode: number | null;
  readonly folderMode: number | null;
  readonly group: number | null;
}

export const inheritedModeAndGroup: ModeAndGroup = { fileMode: null, folderMode: null, group: null };

const inheritedFileBits = 0o666; // without execute: on a folder, that bit means the right to enter it
const inheritedFolderBits = 0o2777; // with setgid

/** Changes the group if the process may do so: as root, or as a member of that group. */
function changeGroup(descriptor: number, group: number): void {
  try {
    fs.fchownSync(descriptor, -1, group);
  } catch {
    // the file or folder keeps the group that it was created with
  }
}

/** Sets mode and group of a new file or folder, whatever the umask: otherwise other users of a file server could not read it. */
export function setModeAndGroup(descriptor: number, parent: number, { fileMode, folderMode, group }: ModeAndGroup): void {
  const [stat, parentStat] = [fs.fstatSync(descriptor), fs.fstatSync(parent)];
  const targetGroup = group ?? parentStat.gid;
  if (stat.gid !== targetGroup) changeGroup(descriptor, targetGroup);
  const configuredMode = stat.isDirectory() ? folderMode : fileMode;
  const inheritedMode = parentStat.mode & (stat.isDirectory() ? inheritedFolderBits : inheritedFileBits);
  changeMode(descriptor, stat.mode, configuredMode ?? inheritedMode, configuredMode !== null);
}

/** Changes the mode. Some mounts do not support modes: the upload or new folder then fails only if the operator has configured a mode. */
function changeMode(descriptor: number, currentMode: number, mode: number, isConfigured: boolean): void {
  if ((currentMode & 0o7777) === mode) return;
  try {
    fs.fchmodSync(descriptor, mode);
  } catch (cause) {
    if (isConfigured || !['EPERM', 'ENOTSUP', 'ENOSYS'].includes(systemErrorCode(cause))) throw cause;
  }
}
