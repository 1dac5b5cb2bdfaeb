import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { shareBody } from '../test/parts/share-body.ts';
import { atMost, type Figure, median } from './figures.ts';
import { download, type RepeatedRequest, sendMany, upload } from './load.ts';
import type { BenchPostern } from './postern.ts';
import { type MeasuredServer, startServer } from './process.ts';

const rounds = 5;
const gibibyte = 1 << 30;
const [zippedFiles, zippedFileSize] = [1000, 100_000];
const smallFile = Buffer.alloc(10_000, 'postern');
const entries = 1000;

/** Sends a request with a body, and reads the response. @throws if it is an error */
function sendBody(url: string, method: string, headers: Record<string, string>, body: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers: { ...headers, 'content-length': body.length } }, (response) => {
      response.resume().on('end', () => {
        if ((response.statusCode ?? 500) < 300) resolve();
        else reject(new Error(`${url} responded with ${response.statusCode}`));
      });
    });
    outgoing.on('error', reject).end(body);
  });
}

/** Returns the median processor time in seconds that a server uses for `work`. The first round is a warm-up. */
async function cpuTimeOf(server: MeasuredServer, work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const before = server.cpu();
    await work();
    if (round > 0) times.push(server.cpu() - before);
  }
  return median(times);
}

/**
 * Measures the processor time of Postern for transfers, a listing and small changes. References: the bare server for files of 1 GiB, and
 * `servers/minimal-changes.ts` for small uploads and new shares.
 * @param files folder of the share
 */
export async function measureCpuTimes(
  note: (figure: Figure) => void,
  bare: MeasuredServer,
  postern: BenchPostern,
  files: string,
): Promise<void> {
  const { viewId } = await postern.call('share/add', shareBody);
  const link = `${postern.url}/s/${viewId}`;
  mkdirSync(join(files, 'entries'));
  for (let index = 0; index < entries; index += 1) writeFileSync(join(files, 'entries', `entry-${index}.txt`), 'x');
  const add = { url: `${postern.url}/api/v1/share/add`, method: 'POST', headers: postern.authorization } satisfies RepeatedRequest;
  const shareText = Buffer.from(JSON.stringify(shareBody));
  const nextName = () => `${randomUUID()}.bin`;
  const uploadSmall = (address: string, connections: number) => () =>
    sendMany(500, connections, () => sendBody(`${address}/${nextName()}`, 'PUT', {}, smallFile));
  mkdirSync(join(files, '../minimal'));
  await using minimal = await startServer(
    join(import.meta.dirname, 'servers/minimal-changes.ts'),
    [join(files, '../minimal')],
    {},
    /ready (\d+)/,
  );
  const comparedWithMinimal = (milliseconds: number, figure: Figure): Figure => ({
    ...figure,
    reference: `${milliseconds.toFixed(2)} ms by the smallest program`,
  });

  const zipTime = await cpuTimeOf(postern, () => download(`${link}/zip/thousand`));
  note(atMost('CPU: a ZIP file of 1,000 files of 100 KB', zipTime / ((zippedFiles * zippedFileSize) / gibibyte), 1.8, 's per GiB'));
  const listingTime = await cpuTimeOf(postern, () => sendMany(100, 1, () => download(`${link}/list/entries?pageSize=${entries}`)));
  note(atMost(`CPU: a listing of ${entries} entries`, listingTime * 10, 4, 'ms'));
  for (const [connections, target] of [
    [1, 2.5],
    [16, 1.5],
  ] as const) {
    const minimalTime = await cpuTimeOf(minimal, uploadSmall(minimal.url, connections));
    const uploadTime = await cpuTimeOf(postern, uploadSmall(`${link}/file`, connections));
    const figure = atMost(`CPU: an upload of 10 KB, durable, ${connections} at once`, uploadTime * 2, target, 'ms');
    note(comparedWithMinimal(minimalTime * 2, figure));
  }
  const comparedWithBare = (seconds: number, figure: Figure): Figure => ({ ...figure, reference: `${seconds.toFixed(2)} s` });
  const bareDownloadTime = await cpuTimeOf(bare, () => download(`${bare.url}/stream/1g.bin`));
  const downloadTime = await cpuTimeOf(postern, () => download(`${link}/file/1g.bin`));
  note(comparedWithBare(bareDownloadTime, atMost('CPU: a download of 1 GiB', downloadTime, 0.52, 's')));
  const bareUploadTime = await cpuTimeOf(bare, () => upload(`${bare.url}/store`, 'POST', gibibyte));
  // Each file is deleted immediately: writing into a full page cache costs more than the upload.
  const uploadTime = await cpuTimeOf(postern, async () => {
    const address = `${link}/file/${nextName()}`;
    await upload(address, 'PUT', gibibyte);
    await fetch(address, { method: 'DELETE' });
  });
  note(comparedWithBare(bareUploadTime, atMost('CPU: an upload of 1 GiB, durable, with SHA-256', uploadTime, 2.8, 's')));
  const addShares = (url: string) => () => sendMany(1000, 1, () => sendBody(url, add.method, add.headers, shareText));
  const minimalTime = await cpuTimeOf(minimal, addShares(minimal.url));
  const addTime = await cpuTimeOf(postern, addShares(add.url));
  note(comparedWithMinimal(minimalTime, atMost('CPU: share/add, one at a time', addTime, 0.9, 'ms')));
}
