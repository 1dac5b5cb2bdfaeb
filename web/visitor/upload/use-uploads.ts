import { useEffect, useMemo, useState } from 'preact/hooks';
import { Failure, listFolder } from '#visitor/link-api.ts';
import { isActive, type Queue } from './upload-item.ts';
import { Uploads } from './uploads.ts';

/** Returns the ETag of a file from its folder's listing, or null. Path []: the shared file. @throws Failure, also if it is a folder */
async function fetchEtag(path: readonly string[]): Promise<string | null> {
  const name = path.at(-1);
  const { entries } = await listFolder(path.slice(0, -1), name === undefined ? {} : { searchWord: name, pageSize: '1000' });
  const file = entries.find((entry) => name === undefined || entry.name === name);
  if (file?.folder) throw new Failure(409, 'itemExists', '', null);
  return file?.etag ?? null;
}

/** Creates the upload queue of the page, and follows its state. Leaving the page during uploads needs a confirmation. */
export function useUploads(canCreateFolders: boolean, reportFailure: (failure: Failure) => void): { queue: Queue; uploads: Uploads } {
  const [queue, show] = useState<Queue>({ items: [], isPaused: false, completed: 0, speed: 0 });
  const uploads = useMemo(() => new Uploads({ show, fetchEtag, reportFailure, canCreateFolders }), []);
  const isBusy = queue.items.some(isActive);
  useEffect(() => {
    if (!isBusy) return;
    const confirmLeaving = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', confirmLeaving);
    return () => window.removeEventListener('beforeunload', confirmLeaving);
  }, [isBusy]);
  return { queue, uploads };
}
