import { useEffect, useMemo, useState } from 'preact/hooks';
import { Failure, list } from '#visitor/link-api.ts';
import { isUnderWay, type Queue, type Uploads, uploadQueue } from './uploads.ts';

/** What lies there, as its folder lists it; without a name, the file that the link shares. @throws Failure where it is a folder */
async function validatorOf(path: readonly string[]): Promise<string | null> {
  const name = path.at(-1);
  const { entries } = await list(path.slice(0, -1), name === undefined ? {} : { searchWord: name, pageSize: '1000' });
  const found = entries.find((entry) => name === undefined || entry.name === name);
  if (found?.folder) throw new Failure(409, 'itemExists', '', null);
  return found?.etag ?? null;
}

/** The queue of this page, and what is seen of it. */
export function useUploads(makesFolders: boolean, refused: (failure: Failure) => void): { queue: Queue; uploads: Uploads } {
  const [queue, show] = useState<Queue>({ all: [], paused: false, arrived: 0, speed: 0 });
  const uploads = useMemo(() => uploadQueue({ show, validatorOf, refused, makesFolders }), []);
  const isBusy = queue.all.some(isUnderWay);
  useEffect(() => {
    if (!isBusy) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, [isBusy]);
  return { queue, uploads };
}
