import fs from 'node:fs';
import { afterCommitPoint, errorWithCode } from './disk-errors.ts';
import { confirmMark, createMarkForFreeName, type EvidenceOfName, markText } from './marks.ts';
import { type ModeAndGroup, setModeAndGroup } from './mode-and-group.ts';
import { type DirectoryEntry, entryPath, statEntry } from './staging-area.ts';

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = fs.constants;

/** Sets mode and group of a new folder. */
function applyModeAndGroup(folder: DirectoryEntry, modeAndGroup: ModeAndGroup): void {
  const descriptor = fs.openSync(entryPath(folder), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    setModeAndGroup(descriptor, folder.folder, modeAndGroup);
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Creates a folder. @throws EEXIST if the name is taken */
export function makeFolder(folder: DirectoryEntry, evidence: EvidenceOfName, modeAndGroup: ModeAndGroup): void {
  if (statEntry(folder)) throw errorWithCode('EEXIST');
  createMarkForFreeName(evidence, 'folder');
  fs.mkdirSync(entryPath(folder), 0o700);
  afterCommitPoint(() => applyModeAndGroup(folder, modeAndGroup));
  confirmMark(evidence.own);
}

/**
 * Recovers a folder with an unconfirmed mark, and sets its mode and group.
 * @returns whether the folder was created: it exists now, and the name was free when the mark was created
 */
export function recoverFolder(folder: DirectoryEntry, evidence: DirectoryEntry, modeAndGroup: ModeAndGroup): boolean {
  if (markText(evidence) === null || !statEntry(folder)?.isDirectory()) return false;
  try {
    applyModeAndGroup(folder, modeAndGroup);
  } catch {
    // the mount does not support modes or groups: the folder was created nevertheless
  }
  return true;
}
