import fs from 'node:fs';
import { StorageAway } from '#ports/storage.ts';
import { dropName, lookAt, named, type Spot, where } from './aside.ts';
import { codeOf } from './disk-errors.ts';

/**
 * A mark tells recovery how far a change came: it lies aside under the change's token from the moment at which the
 * change may take place, and is given an ending once it has. Where the process ends in between, the folder tells the
 * rest. It is a link to its text, which leads nowhere: that needs no room on a full disk.
 */
const doneEnding = '-done';
const linksRefused = ['EPERM', 'ENOTSUP', 'ENOSYS', 'EINVAL'];

/** The marks of a change that takes a name. */
export interface Marks {
  readonly own: Spot;
  /** Of changes to the same name that have begun and not ended: those have not taken it where it is found free. */
  readonly overtaken: readonly Spot[];
}

/** @param text what recovery will need to know; not empty */
export function putMark(mark: Spot, text: string): void {
  try {
    fs.symlinkSync(text, where(mark));
  } catch (cause) {
    if (!linksRefused.includes(codeOf(cause))) throw cause;
    fs.writeFileSync(where(mark), text, { flag: 'wx', mode: 0o600 });
  }
}

/** Puts the own mark, once the name was found free. */
export function takeName({ own, overtaken }: Marks, text: string): void {
  for (const mark of overtaken) dropMark(mark);
  putMark(own, text);
}

/** Says that the change took place. @throws StorageAway: recovery must look */
export function confirmMark(mark: Spot): void {
  try {
    fs.renameSync(where(mark), where(named(mark, doneEnding)));
  } catch (cause) {
    throw new StorageAway('the disk failed behind a change that was made', { cause });
  }
}

export const isConfirmed = (mark: Spot) => lookAt(named(mark, doneEnding)) !== undefined;

/** The text of a mark that is not confirmed; null where there is none: the change has not come that far. */
export function markText(mark: Spot): string | null {
  const found = lookAt(mark);
  if (!found) return null;
  return found.isSymbolicLink() ? fs.readlinkSync(where(mark)) : fs.readFileSync(where(mark), 'utf8');
}

export function dropMark(mark: Spot): void {
  dropName(mark);
  dropName(named(mark, doneEnding));
}
