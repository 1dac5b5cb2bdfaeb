import fs from 'node:fs';
import { StorageAway } from '#ports/storage.ts';
import { dropName, lookAt, named, type Spot, where } from './aside.ts';
import { codeOf } from './disk-errors.ts';

/**
 * A mark tells recovery how far a change came: it lies aside, named by the change's token, from the moment at which the
 * change may take place, and is given another ending once it has. Where the process ends in between, the folder tells
 * the rest. It is a link to its text, which leads nowhere: that needs no room on a full disk.
 */
const [markEnding, doneEnding] = ['-mark', '-done'];
const markOf = (aside: Spot) => named(aside, markEnding);
const doneOf = (aside: Spot) => named(aside, doneEnding);
const linksRefused = ['EPERM', 'ENOTSUP', 'ENOSYS', 'EINVAL'];

/** What tells of a change that takes a name: by the spots where each keeps it. */
export interface Marks {
  readonly own: Spot;
  /** Of changes to the same name that have begun and not ended: where it is found free, those that are not confirmed have not taken it. */
  readonly overtaken: readonly Spot[];
}

/** A link to its text, or a file where the file system takes no links. */
export function putText(spot: Spot, text: string): void {
  try {
    fs.symlinkSync(text, where(spot));
  } catch (cause) {
    if (!linksRefused.includes(codeOf(cause))) throw cause;
    fs.writeFileSync(where(spot), text, { flag: 'wx', mode: 0o600 });
  }
}

/** @returns null where there is none */
export function textAt(spot: Spot): string | null {
  const found = lookAt(spot);
  if (!found) return null;
  return found.isSymbolicLink() ? fs.readlinkSync(where(spot)) : fs.readFileSync(where(spot), 'utf8');
}

/** @param text what recovery will need to know; not empty */
export const putMark = (aside: Spot, text: string): void => putText(markOf(aside), text);

/** Puts the own mark, once the name was found free. */
export function takeName({ own, overtaken }: Marks, text: string): void {
  for (const aside of overtaken) dropName(markOf(aside));
  putMark(own, text);
}

/** Renames what tells of a change, to say that it took place. @throws StorageAway: recovery must look */
function confirm(from: Spot, to: Spot): void {
  try {
    fs.renameSync(where(from), where(to));
  } catch (cause) {
    throw new StorageAway('the disk failed behind a change that was made', { cause });
  }
}

/** Says that the change took place. */
export const confirmMark = (aside: Spot): void => confirm(markOf(aside), doneOf(aside));
/** The same by the staging copy of an upload, in place of a mark. */
export const confirmStaging = (staging: Spot): void => confirm(staging, doneOf(staging));

export const isConfirmed = (aside: Spot) => lookAt(doneOf(aside)) !== undefined;

/** The text of a mark that is not confirmed; null where there is none: the change has not come that far. */
export const markText = (aside: Spot): string | null => textAt(markOf(aside));

export function dropMark(aside: Spot): void {
  dropName(markOf(aside));
  dropName(doneOf(aside));
}
