import { request } from 'node:http';
import { atMost, type Figure } from './figures.ts';
import { download } from './load.ts';
import type { BenchPostern } from './postern.ts';

const [transfers, archives, seconds] = [200, 10, 20];

/** Starts a download. @returns a function that aborts it. */
function startDownload(url: string): () => void {
  const outgoing = request(url, { agent: false }, (response) => {
    response.on('error', () => {});
    response.resume();
  });
  outgoing.on('error', () => {});
  outgoing.end();
  return () => outgoing.destroy();
}

/**
 * Measures the peak memory since the start of Postern, after many downloads of a file and of a folder.
 * @param viewId of a share with the file `1g.bin` and the folder `thousand`
 */
export async function measureMemoryUnderLoad(note: (figure: Figure) => void, postern: BenchPostern, viewId: string): Promise<void> {
  const link = `${postern.url}/s/${viewId}`;
  const downloadAborts = Array.from({ length: transfers }, () => startDownload(`${link}/file/1g.bin`));
  const until = performance.now() + seconds * 1000;
  const zips = async () => {
    while (performance.now() < until) await download(`${link}/zip/thousand`);
  };
  await Promise.all(Array.from({ length: archives }, zips));
  for (const stop of downloadAborts) stop();
  note(atMost(`memory with 1,000,000 records, under ${transfers} downloads and ${archives} archives`, postern.memory().most, 512, 'MiB'));
}
