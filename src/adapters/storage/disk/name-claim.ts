import fs from 'node:fs';
import { deleteIfPermitted, errorWithCode, undo } from './disk-errors.ts';
import { readNote, writeNote } from './marks.ts';
import { createFile } from './open-within-root.ts';
import { type DirectoryEntry, entryPath, identityOf, statEntry, unlinkIfPresent, withSuffix } from './staging-area.ts';

// Without hard links, a file gets a free name in two steps: an empty file, the claim, takes the name, and is then replaced.

const claimMode = 0o600;
const claimRemains = 'The folder permits neither this change nor the deletion of the empty file with the new name';

/** Suffix of the claim note in the staging area. It is written before the claim is created, and contains the name of the claim. */
const claimSuffix = '-claim';
/** Suffix of the note with the identity of the claim. Without this note, recovery deletes no claim: the file may be somebody else's. */
const identitySuffix = '-claimed';
/** Text of the claim note if a file is replaced and there is no claim. No entry can have this name. */
const noClaim = '/';

const noteOf = (evidence: DirectoryEntry) => withSuffix(evidence, claimSuffix);
const identityNoteOf = (evidence: DirectoryEntry) => withSuffix(evidence, identitySuffix);

/** Returns the name of the claim of a change, or null if it has none. */
export function claimedName(evidence: DirectoryEntry): string | null {
  const name = readNote(noteOf(evidence));
  return name === noClaim ? null : name;
}

export const hasClaimNote = (evidence: DirectoryEntry): boolean => statEntry(noteOf(evidence)) !== undefined;

/** Deletes the notes about the claim of a change. */
export function deleteClaimNotes(evidence: DirectoryEntry): void {
  unlinkIfPresent(identityNoteOf(evidence));
  unlinkIfPresent(noteOf(evidence));
}

/** Notes that a change replaces a file and needs no claim. */
export const noteNoClaim = (evidence: DirectoryEntry): void => writeNote(noteOf(evidence), noClaim);

/** Deletes the claim of a change that was interrupted before it replaced the claim. */
export function deleteEmptyClaim(evidence: DirectoryEntry, folder: number): void {
  const name = claimedName(evidence);
  if (name === null) return;
  const claim = { folder, name };
  const stat = statEntry(claim);
  if (stat?.isFile() && stat.size === 0n && identityOf(stat) === readNote(identityNoteOf(evidence)))
    deleteIfPermitted(() => unlinkIfPresent(claim));
}

/** Creates the claim of a change, with its notes. @returns the identity of the claim @throws EEXIST if the name is taken */
function createClaim(claim: DirectoryEntry, evidence: DirectoryEntry): string {
  writeNote(noteOf(evidence), claim.name);
  const file = createFile(claim.folder, claim.name, claimMode);
  const identity = identityOf(fs.fstatSync(file, { bigint: true }));
  fs.closeSync(file);
  try {
    writeNote(identityNoteOf(evidence), identity);
    return identity;
  } catch (cause) {
    undo(() => fs.unlinkSync(entryPath(claim)), claimRemains);
    throw cause;
  }
}

/**
 * Renames a file to a free name. If that fails, deletes the claim, but nothing that has replaced it.
 * @param evidence of the change
 * @throws EEXIST if the name is taken
 */
export function claimAndRename(from: DirectoryEntry, to: DirectoryEntry, evidence: DirectoryEntry): void {
  if (statEntry(to)) throw errorWithCode('EEXIST');
  deleteClaimNotes(evidence); // left by an earlier attempt with another name
  const identity = createClaim(to, evidence);
  const isClaim = () => {
    const stat = statEntry(to);
    return stat !== undefined && stat.size === 0n && identityOf(stat) === identity;
  };
  if (!isClaim()) throw errorWithCode('EEXIST');
  try {
    fs.renameSync(entryPath(from), entryPath(to));
  } catch (cause) {
    undo(() => isClaim() && fs.unlinkSync(entryPath(to)), claimRemains);
    throw cause;
  }
}
