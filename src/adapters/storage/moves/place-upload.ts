import { isSameVersion } from '#adapters/storage/computed-etag.ts';
import { dropBoxNames, withoutLock } from '#adapters/storage/drop-box-names.ts';
import type { Confirm, LockName, UploadTarget } from '#ports/storage.ts';
import { ItemChanged, ItemExists, ItemNotFound, StorageUnavailable } from '#ports/storage-errors.ts';
import type { ChangeEvidence } from './change-evidence.ts';
import type { ItemMoves } from './item-moves.ts';
import type { ServerEntry } from './item-server.ts';

/** The staging area of uploads, and the moves out of it. */
export interface StagingPlace {
  readonly evidence: ChangeEvidence;
  readonly moves: ItemMoves;
}

interface StagedFile {
  readonly token: string;
  /** Bytes that were sent. */
  readonly size: number;
  readonly confirm: Confirm | undefined;
}

/** @throws ItemNotFound if there is no such folder */
export async function checkFolder({ evidence }: StagingPlace, path: readonly string[]): Promise<void> {
  if (path.length > 0 && !(await evidence.find(path))?.folder) throw new ItemNotFound('there is no such folder');
}

/** Checks that the server has stored all bytes, if it lists sizes. @throws StorageUnavailable */
async function checkStored({ evidence }: StagingPlace, { token, size }: StagedFile): Promise<void> {
  const storedFile = await evidence.find(evidence.stagedPath(token));
  const hasSize = storedFile !== null && (storedFile.size > 0 || storedFile.isEmpty === true); // some servers list no sizes
  if (hasSize && storedFile.size !== size) throw new StorageUnavailable('the server has not stored the number of bytes that were sent');
}

/** @param replaced null: the name must be free */
async function moveTo(
  { evidence, moves }: StagingPlace,
  { parent }: UploadTarget,
  { token, size, confirm }: StagedFile,
  name: string,
  replaced: ServerEntry | null,
): Promise<void> {
  const entry = { name, folder: false, size, modified: null, etag: '' };
  await moves.run({ token, from: evidence.stagedPath(token), to: [...parent, name], entry, confirm, ...(replaced ? { replaced } : {}) });
}

/** Puts the file of a drop box in place under a name, under its lock. @returns false if the name was taken meanwhile */
async function placeAs(place: StagingPlace, target: UploadTarget, file: StagedFile, name: string): Promise<boolean> {
  await checkFolder(place, target.parent); // it may have been renamed or deleted while the lock was waited for
  if (await place.evidence.find([...target.parent, name])) return false;
  try {
    await moveTo(place, target, file, name, null);
    return true;
  } catch (cause) {
    if (cause instanceof ItemExists) return false;
    throw cause;
  }
}

/** Puts the file of a drop box in place under the first free name. */
async function placeNumbered(place: StagingPlace, target: UploadTarget, file: StagedFile, lockName: LockName): Promise<string> {
  for (const candidate of dropBoxNames(target.name, file.token)) {
    if (await place.evidence.find([...target.parent, candidate])) continue;
    if (await lockName(candidate, () => placeAs(place, target, file, candidate))) return candidate;
  }
  throw new ItemExists('all names are taken');
}

/** Puts a file in place. @returns its name @throws as `Upload.place` */
export async function placeUpload(
  place: StagingPlace,
  target: UploadTarget,
  file: StagedFile,
  lockName: LockName = withoutLock,
): Promise<string> {
  const { parent, name, ifTaken } = target;
  await checkStored(place, file);
  await checkFolder(place, parent);
  if (ifTaken === 'number') return placeNumbered(place, target, file, lockName);
  const existing = await place.evidence.find([...parent, name]);
  if (ifTaken === 'refuse') {
    if (existing) throw new ItemExists('the name is taken');
  } else if (!existing || existing.folder || !isSameVersion(existing.etag, ifTaken.replaces)) throw new ItemChanged('the file has changed');
  await moveTo(place, target, file, name, existing);
  return name;
}
