import fs from 'node:fs';
import { errorWithCode } from './disk-errors.ts';
import { readNote, writeNote } from './marks.ts';
import { createFile } from './open-within-root.ts';
import { type DirectoryEntry, entryPath, statEntry, unlinkIfPresent, withSuffix } from './staging-area.ts';

// Without hard links, a file gets a free name in two steps: an empty file, the claim, takes the name, and is then replaced.

const claimMode = 0o600;

/** Suffix of the claim note in the staging area. It is written before the claim is created, and contains the name of the claim. */
const claimSuffix = '-claim';
/** Text of the claim note if a file is replaced and there is no claim. No entry can have this name. */
const noClaim = '/';

const noteOf = (evidence: DirectoryEntry) => withSuffix(evidence, claimSuffix);

/** Returns the name of the claim of a change, or null if it has none. */
export function claimedName(evidence: DirectoryEntry): string | null {
  const name = readNote(noteOf(evidence));
  return name === noClaim ? null : name;
}

export const hasClaimNote = (evidence: DirectoryEntry): boolean => statEntry(noteOf(evidence)) !== undefined;
export const deleteClaimNote = (evidence: DirectoryEntry): void => unlinkIfPresent(noteOf(evidence));

/** Notes that a change replaces a file and needs no claim. */
export const noteNoClaim = (evidence: DirectoryEntry): void => writeNote(noteOf(evidence), noClaim);

/** Deletes the claim of a change that was interrupted before it replaced the claim. */
export function deleteEmptyClaim(evidence: DirectoryEntry, folder: number): void {
  const name = claimedName(evidence);
  if (name === null) return;
  const claim = { folder, name };
  const stat = statEntry(claim);
  if (stat?.isFile() && stat.size === 0n) unlinkIfPresent(claim);
}

/**
 * Renames a file to a free name. If that fails, deletes the claim, but nothing that has replaced it.
 * @param evidence of the change
 * @throws EEXIST if the name is taken
 */
export function claimAndRename(from: DirectoryEntry, to: DirectoryEntry, evidence: DirectoryEntry): void {
  if (statEntry(to)) throw errorWithCode('EEXIST');
  deleteClaimNote(evidence); // left by an earlier attempt with another name
  writeNote(noteOf(evidence), to.name);
  const file = createFile(to.folder, to.name, claimMode);
  const { ino } = fs.fstatSync(file, { bigint: true });
  fs.closeSync(file);
  const isClaim = () => {
    const stat = statEntry(to);
    return stat?.ino === ino && stat.size === 0n;
  };
  if (!isClaim()) throw errorWithCode('EEXIST');
  try {
    fs.renameSync(entryPath(from), entryPath(to));
  } catch (cause) {
    if (isClaim()) fs.unlinkSync(entryPath(to));
    throw cause;
  }
}
