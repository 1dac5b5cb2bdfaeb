import type { ClosedUpload, ContinuedUpload, Upload, UploadTarget } from '#ports/storage.ts';
import { ItemNotFound } from '#ports/storage-errors.ts';
import { type ObjectPlace, ObjectUpload } from './object-upload.ts';
import { smallestPart } from './part-sizes.ts';
import { multipartKey } from './upload-evidence.ts';
import { UploadProgress } from './upload-progress.ts';

/** Starts an upload. @throws ItemNotFound if there is no such folder; PathTooLong */
export async function startUpload(place: ObjectPlace, target: UploadTarget, token: string): Promise<Upload> {
  const { folders } = place;
  if (!(await folders.hasFolder(target.parent))) throw new ItemNotFound('there is no such folder');
  folders.checkLengths([folders.keys.file([...target.parent, target.name])]);
  const isSmall = target.size !== null && target.size <= smallestPart;
  const handle = isSmall ? null : await folders.store.startParts(multipartKey(folders, target, token), token);
  return new ObjectUpload(place, target, token, handle);
}

/** Continues an upload that `startUpload` has started. @throws ItemNotFound if the received bytes are gone; StorageFull */
export async function continueObjectUpload(
  place: ObjectPlace,
  target: UploadTarget,
  { token, handle, offset, confirm }: ClosedUpload,
): Promise<ContinuedUpload> {
  const upload = new ObjectUpload(place, target, token, handle, { progress: new UploadProgress(place.folders, token), confirm });
  try {
    await upload.restore(offset);
    return upload;
  } catch (cause) {
    await upload.closeForRecovery();
    throw cause;
  }
}
