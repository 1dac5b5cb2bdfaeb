import fs from 'node:fs';
import { afterCommitPointSync, failure } from './disk-errors.ts';
import { confirmMark, type Marks, markText, takeName } from './marks.ts';
import { type Ownership, setOwnership } from './ownership.ts';
import { type DirectoryEntry, pathOf, statEntry } from './staging-area.ts';

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = fs.constants;

/** Gives a new folder its mode and group. */
function own(folder: DirectoryEntry, ownership: Ownership): void {
  const made = fs.openSync(pathOf(folder), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    setOwnership(made, folder.folder, ownership);
  } finally {
    fs.closeSync(made);
  }
}

/** Makes a folder under a free name. @throws EEXIST */
export function makeFolder(folder: DirectoryEntry, marks: Marks, ownership: Ownership): void {
  if (statEntry(folder)) throw failure('EEXIST');
  takeName(marks, 'folder');
  fs.mkdirSync(pathOf(folder), 0o700);
  afterCommitPointSync(() => own(folder, ownership));
  confirmMark(marks.own);
}

/** Was a folder made before the crash whose mark is not confirmed? Its name was free when the mark was made. */
export function recoverFolder(folder: DirectoryEntry, evidence: DirectoryEntry, ownership: Ownership): boolean {
  if (markText(evidence) === null || !statEntry(folder)?.isDirectory()) return false;
  try {
    own(folder, ownership);
  } catch {
    // a mount that takes no such rights: the folder was made all the same
  }
  return true;
}
