import type { Confirm, UploadTarget } from '#ports/storage.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { type LateRequests, maxWorkTime } from './late-requests.ts';
import type { ObjectFolders } from './object-folders.ts';
import type { ObjectDescription, ObjectStore } from './object-store.ts';

// What an upload leaves in the staging area and at its key, so that recovery can see whether the
// file is in place.

const claimSuffix = '.claim';
const stagedPart = (token: string) => `${token}.part`;
/** Returns the token of the claim of an upload. A claim is an empty object that reserves a key. */
export const claimToken = (token: string) => `${token}${claimSuffix}`;
/** Whether an object with this token is the claim of an upload. */
export const isClaim = (token: string | null): boolean => token?.endsWith(claimSuffix) ?? false;

/**
 * Returns the key at which a multipart upload is completed. At a drop box, this key is in the
 * staging area, because the name of the file is not known yet.
 */
export const multipartKey = ({ keys }: ObjectFolders, { parent, name, ifTaken }: UploadTarget, token: string) =>
  ifTaken === 'number' ? keys.staging(stagedPart(token)) : keys.file([...parent, name]);

/**
 * Deletes the claim of an upload, or the failed copy that has replaced it.
 * @param confirm awaited directly before the deletion, if the service may delete another version
 * @throws StorageUnavailable if the service has not completed the copy
 */
export async function deleteClaim(store: ObjectStore, key: string, token: string, confirm?: Confirm): Promise<void> {
  await deleteIfClaim(store, await store.describe(key), token, confirm);
}

/** As `deleteClaim`. @param object at the key of the upload */
async function deleteIfClaim(
  store: ObjectStore,
  object: ObjectDescription | null,
  token: string,
  confirm: Confirm | undefined,
): Promise<void> {
  const isOurs = object?.token === claimToken(token) || object?.token === token;
  if (isOurs && object.copyState === 'pending') throw new StorageUnavailable('the service has not completed a copy yet');
  if (object?.token === claimToken(token) || (isOurs && object.copyState === 'failed')) await store.deleteUnchanged([object], confirm);
}

/** The key that an interrupted upload would have got, and what decides whether it may still get it. */
interface InterruptedUpload {
  readonly parent: readonly string[];
  readonly name: string;
  readonly token: string;
  readonly confirm: Confirm | undefined;
}

/**
 * Returns the name of the file that an upload has made, or null. Deletes the claim of an upload that was not completed.
 * @throws StorageUnavailable also while the service may still be copying the file over its claim
 */
export async function recoverUpload(
  folders: ObjectFolders,
  late: LateRequests,
  { parent, name, token, confirm }: InterruptedUpload,
): Promise<string | null> {
  const { store, keys } = folders;
  await store.hasKeys(keys.folder([])); // throws if the bucket is missing: then the outcome is not known
  const key = keys.file([...parent, name]);
  const object = await store.describe(key);
  if (object?.token === claimToken(token)) {
    const staged = await store.describe(keys.staging(stagedPart(token)));
    late.check(token, object.modified, maxWorkTime(staged?.size));
  }
  await deleteIfClaim(store, object, token, confirm);
  const file = await folders.file([...parent, name]);
  return file?.token === token ? name : null;
}

/** Aborts the multipart upload of an upload. Tries both keys that `multipartKey` can return. */
export async function abortUpload({ store, keys }: ObjectFolders, path: readonly string[], token: string, handle: string): Promise<void> {
  for (const key of [keys.file(path), keys.staging(stagedPart(token))]) await store.abortParts(key, handle);
}

/** Deletes the evidence of an upload. @param isNumbered whether a number may have been added to its name */
export async function clearUpload({ store, keys }: ObjectFolders, token: string, isNumbered: boolean): Promise<void> {
  if (isNumbered) await store.delete([keys.staging(stagedPart(token))]);
}
