import { useMemo, useState } from 'preact/hooks';
import { list } from '#visitor/link-api.ts';
import { type Queue, type Uploads, uploadQueue } from './uploads.ts';

/** What lies there, as its folder lists it. */
async function validatorOf(path: readonly string[]): Promise<string | null> {
  const name = path.at(-1) ?? '';
  const { entries } = await list(path.slice(0, -1), { searchWord: name, pageSize: '1000' });
  return entries.find((entry) => entry.name === name)?.etag || null;
}

/** The queue of this page, and what is seen of it. */
export function useUploads(makesFolders: boolean, signInNeeded: () => void): { queue: Queue; uploads: Uploads } {
  const [queue, show] = useState<Queue>({ all: [], paused: false, arrived: 0, speed: 0 });
  const uploads = useMemo(() => uploadQueue({ show, validatorOf, signInNeeded, makesFolders }), []);
  return { queue, uploads };
}
