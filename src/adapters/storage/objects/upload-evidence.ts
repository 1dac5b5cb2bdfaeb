import { nameError } from '#core/item-path.ts';
import { StorageUnavailable, type UploadTarget } from '#ports/storage.ts';
import type { ObjectFolders } from './object-folders.ts';
import type { ObjectStore } from './object-store.ts';
import { readText } from './read-text.ts';

// What an upload leaves in the staging area and at its key, from which recovery sees whether it took place.

const stagedPart = (token: string) => `${token}.part`;
export const placedName = (token: string) => `${token}.name`;
/** The token of an empty object that keeps a key for an upload. */
export const claimToken = (token: string) => `${token}.claim`;
const maxNote = 1 << 20; // bytes; the note contains a name

/** Key at which an upload of several parts is completed. The name of a drop box's file is not known before. */
export const keyOf = ({ keys }: ObjectFolders, { parent, name, ifTaken }: UploadTarget, token: string) =>
  ifTaken === 'number' ? keys.staging(stagedPart(token)) : keys.file([...parent, name]);

/** Deletes the empty object that keeps a key for an upload, if it is still there, also as a copy that has failed. @throws StorageUnavailable while it is copied */
export async function deleteClaim(store: ObjectStore, key: string, token: string): Promise<void> {
  const object = await store.describe(key);
  const isOurs = object?.token === claimToken(token) || object?.token === token;
  if (isOurs && object.copyState === 'pending') throw new StorageUnavailable('the service has not completed a copy yet');
  if (object?.token === claimToken(token) || (isOurs && object.copyState === 'failed')) await store.delete([key]);
}

/** Returns the name of the file that an upload has made, or null. Deletes the claim of an upload that was not completed. */
export async function recoverUpload(
  folders: ObjectFolders,
  parent: readonly string[],
  name: string,
  token: string,
): Promise<string | null> {
  const { store, keys } = folders;
  await store.hasKeys(keys.folder([])); // if there is no bucket, nothing is known
  const noted = await readText(store, keys.staging(placedName(token)), maxNote);
  const placed = noted !== null && nameError(noted) === null ? noted : name;
  await deleteClaim(store, keys.file([...parent, placed]), token);
  const file = await folders.file([...parent, placed]);
  return file?.token === token ? placed : null;
}

/** Ends the multipart upload of an upload that recovery has looked at. A drop box's upload has a key in the staging area. */
export async function abortUpload({ store, keys }: ObjectFolders, path: readonly string[], token: string, handle: string): Promise<void> {
  for (const key of [keys.file(path), keys.staging(stagedPart(token))]) await store.abortParts(key, handle);
}

/** Deletes the traces of an upload. @param isNumbered whether a number may have been added to its name */
export async function clearUpload({ store, keys }: ObjectFolders, token: string, isNumbered: boolean): Promise<void> {
  if (isNumbered) await store.delete([stagedPart(token), placedName(token)].map((name) => keys.staging(name)));
}
