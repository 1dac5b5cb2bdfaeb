import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { maxListingSize } from '#core/listing.ts';
import { Failure, listFolder } from '#visitor/link-api.ts';
import type { FolderEntry } from '#visitor/listing/use-folder.ts';
import { isActive, type UploadQueueState } from './upload-item.ts';
import { UploadQueue } from './upload-queue.ts';

/** Returns an entry of a folder by its name, or undefined. @throws Failure */
async function findEntry(folder: readonly string[], name: string): Promise<FolderEntry | undefined> {
  // The search also finds longer names that contain this name, so the result can have several pages.
  for (let startIndex = 0; ; startIndex += maxListingSize) {
    const query = { searchWord: name, startIndex: String(startIndex), pageSize: String(maxListingSize) };
    const { entries, totalCount } = await listFolder(folder, query);
    const found = entries.find((entry) => entry.name === name);
    if (found || startIndex + maxListingSize >= totalCount) return found;
  }
}

/** Returns the ETag of a file from its folder's listing, or null. Path []: the shared file. @throws Failure, also for a folder */
async function fetchEtag(path: readonly string[]): Promise<string | null> {
  const name = path.at(-1);
  const file = name === undefined ? (await listFolder([], {})).entries[0] : await findEntry(path.slice(0, -1), name);
  if (file?.folder) throw new Failure(409, 'itemExists', '', null);
  return file?.etag ?? null;
}

/** Creates the upload queue of the page, and follows its state. Leaving the page during uploads needs a confirmation. */
export function useUploads(
  canCreateFolders: boolean,
  reportFailure: (failure: Failure) => void,
): { queue: UploadQueueState; uploads: UploadQueue } {
  const [queue, show] = useState<UploadQueueState>({ items: [], isPaused: false, completed: 0, speed: 0 });
  const currentPermission = useRef(canCreateFolders);
  currentPermission.current = canCreateFolders;
  const uploads = useMemo(() => new UploadQueue({ show, fetchEtag, reportFailure, canCreateFolders: () => currentPermission.current }), []);
  const isBusy = queue.items.some(isActive);
  useEffect(() => {
    if (!isBusy) return;
    const confirmLeaving = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', confirmLeaving);
    return () => window.removeEventListener('beforeunload', confirmLeaving);
  }, [isBusy]);
  return { queue, uploads };
}
