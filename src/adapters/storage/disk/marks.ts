import fs from 'node:fs';
import { codeOf, commitPointError, linksRefused } from './disk-errors.ts';
import { type DirectoryEntry, pathOf, statEntry, unlinkIfPresent, withSuffix } from './staging-area.ts';

/**
 * A mark is a file in the staging area by which recovery sees how far a change came. It is created when the name was
 * found free, and renamed when the change has taken place; if the process ends in between, recovery looks at the folder.
 * It is a symbolic link to its text, which points nowhere: a full disk has room for it.
 */
const [markEnding, doneEnding] = ['-mark', '-done'];
const markOf = (evidence: DirectoryEntry) => withSuffix(evidence, markEnding);
const doneOf = (evidence: DirectoryEntry) => withSuffix(evidence, doneEnding);

/** The marks of a change that takes a name. */
export interface Marks {
  readonly own: DirectoryEntry;
  /** Of pending changes to the same name. If it is free, those without a confirmed mark have not taken it. */
  readonly overtaken: readonly DirectoryEntry[];
}

/** Creates a symbolic link to the text, or a file that holds it where the file system has no links. */
export function putText(entry: DirectoryEntry, text: string): void {
  try {
    fs.symlinkSync(text, pathOf(entry));
  } catch (cause) {
    if (!linksRefused.includes(codeOf(cause))) throw cause;
    fs.writeFileSync(pathOf(entry), text, { flag: 'wx', mode: 0o600 });
  }
}

/** @returns null where there is none */
export function textAt(entry: DirectoryEntry): string | null {
  const found = statEntry(entry);
  if (!found) return null;
  return found.isSymbolicLink() ? fs.readlinkSync(pathOf(entry)) : fs.readFileSync(pathOf(entry), 'utf8');
}

/** @param text what recovery will need to know; not empty */
export const putMark = (evidence: DirectoryEntry, text: string): void => putText(markOf(evidence), text);

/** Creates the mark of a change whose name was found free. */
export function takeName({ own, overtaken }: Marks, text: string): void {
  for (const evidence of overtaken) unlinkIfPresent(markOf(evidence));
  putMark(own, text);
}

/**
 * Renames a mark. One that is gone was removed by another process, which took this one for dead: the change has taken place
 * all the same.
 * @throws StorageAway: the change has taken place, and recovery must record it
 */
function confirm(from: DirectoryEntry, to: DirectoryEntry): void {
  try {
    fs.renameSync(pathOf(from), pathOf(to));
  } catch (cause) {
    if (codeOf(cause) !== 'ENOENT') throw commitPointError(cause);
  }
}

/** Marks a change as done. */
export const confirmMark = (evidence: DirectoryEntry): void => confirm(markOf(evidence), doneOf(evidence));
/** Marks an upload as done: its staging copy serves as the mark. */
export const confirmStaging = (staging: DirectoryEntry): void => confirm(staging, doneOf(staging));

export const isConfirmed = (evidence: DirectoryEntry) => statEntry(doneOf(evidence)) !== undefined;

/** Returns the text of an unconfirmed mark, or null if there is none. */
export const markText = (evidence: DirectoryEntry): string | null => textAt(markOf(evidence));

export function dropMark(evidence: DirectoryEntry): void {
  unlinkIfPresent(markOf(evidence));
  unlinkIfPresent(doneOf(evidence));
}
