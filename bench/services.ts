import { join } from 'node:path';
import { guardedOutbound } from '#adapters/net/guarded-outbound.ts';
import { smallestPart } from '#adapters/storage/objects/part-sizes.ts';
import { packRangeText } from '#core/authorization/address-range.ts';
import type { S3Configuration } from '#core/records/location-configurations.ts';
import { openBucket } from '../test/parts/open-s3.ts';
import { fastGarbageCollection, startRadosgw } from '../test/parts/radosgw.ts';
import { shareBody } from '../test/parts/share-body.ts';
import { startDelayedServer } from './delayed-server.ts';
import { atLeast, atMost, type Figure, measurePairs, median } from './figures.ts';
import { download, measureRate, sendMany, upload } from './load.ts';
import { type BenchPostern, startPostern } from './postern.ts';
import { type MeasuredServer, startServer } from './process.ts';

const rounds = 3;
const gibibyte = 1 << 30;
const smallObject = 64 << 10; // bytes
const [archivedFiles, archivedFileSize] = [1000, 100_000];
const roundTrip = 20; // ms
const listedFiles = 100_000;
const manyUploads = 20;

type Note = (figure: Figure) => void;

/** Postern and the AWS SDK at the same bucket of a real S3 service. */
interface BucketServers {
  readonly postern: BenchPostern;
  readonly sdk: MeasuredServer;
  /** Address of a share of the bucket. */
  readonly link: string;
  /** Address of its files. */
  readonly files: string;
}

async function cpuOf(server: MeasuredServer, work: () => Promise<unknown>): Promise<number> {
  const before = server.cpu();
  await work();
  return server.cpu() - before;
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

async function measureLargeDownloads(note: Note, { postern, sdk, files }: BucketServers): Promise<void> {
  await upload(`${sdk.url}/1g.bin`, 'PUT', gibibyte);
  const [sdkTimes, ours]: [number[], number[]] = [[], []];
  const speedOf = async (server: MeasuredServer, url: string, times: number[]) => {
    let total = 0;
    times.push(
      await cpuOf(server, async () => {
        total = (await download(url)).total;
      }),
    );
    return 1 / total;
  };
  const speeds = await measurePairs(
    rounds,
    () => speedOf(sdk, `${sdk.url}/1g.bin`, sdkTimes),
    () => speedOf(postern, `${files}/1g.bin`, ours),
  );
  note(atLeast('S3: a download of 1 GiB, compared with the AWS SDK', 'GiB/s', speeds, 0.8));
  const [sdkTime, time] = [median(sdkTimes), median(ours)];
  note({ ...atMost('the same: CPU, compared with the AWS SDK', time / sdkTime, 1.3, 'times'), reference: `${sdkTime.toFixed(2)} s` });
}

async function measureSmallDownloads(note: Note, { sdk, files }: BucketServers): Promise<void> {
  await upload(`${sdk.url}/64k.bin`, 'PUT', smallObject);
  const rates = await measurePairs(
    rounds,
    () => measureRate({ url: `${sdk.url}/64k.bin` }, 16, 3),
    () => measureRate({ url: `${files}/64k.bin` }, 16, 3),
  );
  note(atLeast('S3: downloads of 64 KiB, 16 at once, compared with the AWS SDK', 'files/s', rates, 0.6));
}

async function measureUploads(note: Note, { postern, sdk, files }: BucketServers): Promise<void> {
  let uploads = 0;
  const uploadTo = async (server: string, bytes: number) => {
    uploads += 1;
    const address = `${server}/upload-${uploads}.bin`;
    const time = await upload(address, 'PUT', bytes);
    await fetch(address, { method: 'DELETE' });
    return 1 / time;
  };
  const speeds = await measurePairs(
    rounds,
    () => uploadTo(sdk.url, gibibyte),
    () => uploadTo(files, gibibyte),
  );
  note(atLeast('S3: an upload of 1 GiB, compared with lib-storage of the AWS SDK', 'GiB/s', speeds, 0.8));
  const before = postern.memory().most;
  await Promise.all(Array.from({ length: manyUploads }, () => uploadTo(files, gibibyte / 16)));
  note(atMost(`S3: ${manyUploads} uploads at once, growth of memory`, postern.memory().most - before, 200, 'MiB'));
}

/** Compares an archive with downloads of its files one by one, at a service that is far away. */
async function measureDelayedArchive(note: Note, { sdk }: BucketServers, link: string): Promise<void> {
  await sendMany(archivedFiles, 16, (number) => upload(`${sdk.url}/thousand/${number}.bin`, 'PUT', archivedFileSize));
  const sample = archivedFiles / 10;
  const single = await seconds(() => sendMany(sample, 1, (number) => download(`${link}/file/thousand/${number}.bin`)));
  const archive = await seconds(() => download(`${link}/zip/thousand`));
  const speed = (single * 10) / archive;
  note({
    ...{ what: `S3 at a delay of ${roundTrip} ms: a ZIP file of ${archivedFiles} files of 100 KB, compared with downloads one by one` },
    ...{ reference: `${(single * 10).toFixed(1)} s`, ours: `${archive.toFixed(1)} s`, ratio: `${speed.toFixed(1)} times faster` },
    ...{ target: 'at least 8', holds: speed >= 8 },
  });
}

async function measureListings(note: Note, { sdk, link }: BucketServers): Promise<void> {
  await sendMany(listedFiles, 32, (number) => upload(`${sdk.url}/many/${number}.txt`, 'PUT', 1));
  const list = (startIndex: number) => seconds(() => download(`${link}/list/many?pageSize=100&startIndex=${startIndex}`));
  const bare = await seconds(async () => (await fetch(`${sdk.url}/many/`, { method: 'SEARCH' })).text());
  const first = await list(0);
  const what = `S3: the first page of ${listedFiles.toLocaleString('en')} entries, compared with the list requests of the AWS SDK`;
  note({ ...atMost(what, first / bare, 1.2, 'times'), reference: `${bare.toFixed(2)} s` });
  note(atMost('the same: a further page', (await list(50_000)) * 1000, 20, 'ms'));
}

/** Measures an S3 location at a real service, beside the AWS SDK. */
export async function measureServices(note: Note, folder: string): Promise<void> {
  await using outbound = guardedOutbound({ privateTargets: packRangeText('127.0.0.1') });
  await using service = await startRadosgw(
    (configuration) => openBucket(configuration, outbound).sendAndRead('PUT', ''),
    fastGarbageCollection,
  );
  const configuration = await service.newBucket();
  await using delayed = await startDelayedServer(new URL(configuration.endpoint ?? ''), roundTrip);
  await using sdk = await startServer(
    join(import.meta.dirname, '../s3-sdk/server.mjs'),
    [JSON.stringify(configuration), `${smallestPart}`],
    {},
    /ready (\d+)/,
  );
  await using postern = await startPostern(folder, { POSTERN_PRIVATE_TARGETS: '127.0.0.1' });
  const shareLocation = async (name: string, location: S3Configuration) => {
    await postern.call('location/add', { name, kind: 's3', configuration: JSON.stringify(location) });
    return `${postern.url}/s/${(await postern.call('share/add', { ...shareBody, location: name })).viewId}`;
  };
  const link = await shareLocation('bucket', configuration);
  const servers = { postern, sdk, link, files: `${link}/file` };
  await measureLargeDownloads(note, servers);
  await measureSmallDownloads(note, servers);
  await measureUploads(note, servers);
  await measureDelayedArchive(note, servers, await shareLocation('far', { ...configuration, endpoint: delayed.url }));
  await measureListings(note, servers);
}
