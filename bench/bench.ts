// Measures the performance figures that Postern promises, or those of one section, where possible as a ratio to a reference in the same
// run.
import { createWriteStream, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, release, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import pg from 'pg';
import { isInstalled } from '../test/parts/is-installed.ts';
import { hasNginx } from '../test/parts/nginx.ts';
import { startPostgres } from '../test/parts/postgres-server.ts';
import { radosgwPrograms } from '../test/parts/radosgw.ts';
import { shareBody } from '../test/parts/share-body.ts';
import { measureCpuTimes } from './byte-path.ts';
import { compareConsoleLists } from './console-lists.ts';
import { measureCosts } from './costs.ts';
import { measureDocuments } from './documents.ts';
import { atLeast, atMost, compareFigures, type Figure, measurePairs, median, resultsPage } from './figures.ts';
import { fillPostgres, fillSqlite } from './fill.ts';
import { measureIdentity } from './identity.ts';
import { download, measureRate, type RepeatedRequest, upload } from './load.ts';
import { mailEnvironment, measureMail, startMailServer } from './mail.ts';
import { measurePages } from './pages.ts';
import { type BenchPostern, loopDelay, startPostern } from './postern.ts';
import { measureMemoryUnderLoad } from './pressure.ts';
import { type MeasuredServer, startServer } from './process.ts';
import { measureReverseProxy, nginxAddress } from './reverse-proxy.ts';
import { measureLargeSearches, measureSearches } from './search.ts';
import { measureServices } from './services.ts';
import { slowDiskEnvironment } from './slow-disk.ts';
import { measureSlowReaders } from './slow-readers.ts';

const rounds = 5;
const [slices, seconds] = [2, 1];
const gibibyte = 1 << 30;
const hasRadosgw = radosgwPrograms.every(isInstalled);
const folder = await mkdtemp(join(process.env['BENCH_FOLDER'] ?? tmpdir(), 'postern-bench-'));
const only = process.argv.slice(2).find((argument) => !argument.startsWith('--'));
const [large, compares] = ['--large', '--compare'].map((flag) => process.argv.includes(flag));
const figures: Figure[] = [];
const note = (figure: Figure) => {
  figures.push(figure);
  console.log(`${figure.holds ? 'holds  ' : 'MISSES '} ${figure.what}: ${figure.ratio || figure.ours} (${figure.target})`);
};

async function fill(file: string, bytes: number): Promise<void> {
  const stream = createWriteStream(file);
  for (let left = bytes; left > 0; left -= 1 << 20)
    if (!stream.write(Buffer.alloc(Math.min(left, 1 << 20), left))) await new Promise((resolve) => stream.once('drain', resolve));
  stream.end();
  await finished(stream);
}

/** Measures two servers under the same load, in short alternating turns. */
const measureUnderLoad = (reference: RepeatedRequest, ours: RepeatedRequest, connections: number) =>
  measurePairs(
    rounds,
    () => measureRate(reference, connections, seconds),
    () => measureRate(ours, connections, seconds),
    slices,
  );

const startBare = (environment = {}) => startServer(join(import.meta.dirname, 'servers/bare.ts'), [folder], environment, /ready (\d+)/);
const setFixedResponse = (bare: MeasuredServer, body: string) => fetch(`${bare.url}/set`, { method: 'POST', body });

async function measureSmallResponses(bare: MeasuredServer, postern: BenchPostern, share: { id: number; viewId: string }): Promise<void> {
  const get = {
    url: `${postern.url}/api/v1/share/get`,
    method: 'POST',
    headers: postern.authorization,
    body: JSON.stringify({ id: share.id }),
  } as const;
  await setFixedResponse(bare, await (await fetch(get.url, get)).text());
  const fixed = { url: `${bare.url}/fixed` };
  note(atLeast('share/get', 'requests/s', await measureUnderLoad({ ...fixed, method: 'POST', body: get.body }, get, 16), 0.6));
  const visit = `${postern.url}/s/${share.viewId}/visit`;
  await setFixedResponse(bare, await (await fetch(visit)).text());
  note(atLeast('visit', 'requests/s', await measureUnderLoad(fixed, { url: visit }, 16), 0.45));
  await setFixedResponse(bare, 'x'.repeat(1024));
  note(
    atLeast('a 1 KB file', 'requests/s', await measureUnderLoad(fixed, { url: `${postern.url}/s/${share.viewId}/file/1k.bin` }, 16), 0.35),
  );
}

async function measureFiles(bare: MeasuredServer, postern: BenchPostern, viewId: string): Promise<void> {
  const link = `${postern.url}/s/${viewId}/file`;
  note(
    atLeast(
      'a 100 KB file',
      'files/s',
      await measureUnderLoad({ url: `${bare.url}/stream/100k.bin` }, { url: `${link}/100k.bin` }, 8),
      0.75,
    ),
  );
  const cpuTimes: Record<'bare' | 'postern', number[]> = { bare: [], postern: [] };
  const speed = async (server: MeasuredServer, who: 'bare' | 'postern', url: string) => {
    const before = server.cpu();
    const { total } = await download(url);
    cpuTimes[who].push(server.cpu() - before);
    return 1 / total;
  };
  const before = postern.memory().now;
  note(
    atLeast(
      'a 1 GiB file',
      'GiB/s',
      await measurePairs(
        rounds,
        () => speed(bare, 'bare', `${bare.url}/stream/1g.bin`),
        () => speed(postern, 'postern', `${link}/1g.bin`),
      ),
      0.9,
    ),
  );
  note({
    ...atMost('a 1 GiB file: CPU, compared with the bare server', median(cpuTimes.postern) / median(cpuTimes.bare), 0.5, 'times'),
    reference: `${median(cpuTimes.bare).toFixed(2)} s`,
    ratio: (median(cpuTimes.postern) / median(cpuTimes.bare)).toFixed(2),
  });
  note(atMost('a 1 GiB file, growth of memory', postern.memory().most - before, 64, 'MiB'));
}

async function measureUploads(bare: MeasuredServer, postern: BenchPostern, viewId: string): Promise<void> {
  let number = 0;
  const ours = async () => {
    number += 1;
    return 1 / (await upload(`${postern.url}/s/${viewId}/file/up-${number}.bin`, 'PUT', gibibyte));
  };
  note(
    atLeast(
      'upload of 1 GiB, durable, with SHA-256',
      'GiB/s',
      await measurePairs(rounds, async () => 1 / (await upload(`${bare.url}/store`, 'POST', gibibyte)), ours),
      0.6,
    ),
  );
}

async function measureZip(bare: MeasuredServer, postern: BenchPostern, viewId: string): Promise<void> {
  const cpuTimeOf = async (server: MeasuredServer, work: () => Promise<unknown>) => {
    const before = server.cpu();
    await work();
    return server.cpu() - before;
  };
  const firstByteFractions: number[] = [];
  const downloadZip = async () => {
    const { first, total } = await download(`${postern.url}/s/${viewId}/zip/thousand`);
    firstByteFractions.push(first / total);
  };
  const downloadFiles = async () => {
    for (let index = 0; index < 1000; index += 1) await download(`${bare.url}/stream/thousand/${index}.bin`);
  };
  const before = postern.memory().now;
  const pair = await measurePairs(
    rounds,
    () => cpuTimeOf(bare, downloadFiles),
    () => cpuTimeOf(postern, downloadZip),
  );
  note({
    ...atMost('a ZIP file of 1,000 files of 100 KB: CPU, compared with sending the files one by one', pair.ratio, 3, 'times'),
    reference: `${pair.reference.toFixed(2)} s`,
    ours: `${pair.ours.toFixed(2)} s`,
    ratio: `${pair.ratio.toFixed(2)} (${pair.spread})`,
  });
  note(
    atMost(
      'a ZIP file of 1,000 files of 100 KB: time to the first byte, as a part of the total time',
      median(firstByteFractions),
      0.1,
      'of the time',
    ),
  );
  note(atMost('a ZIP file of 1,000 files of 100 KB: growth of memory', postern.memory().most - before, 64, 'MiB'));
}

async function measureChanges(bare: MeasuredServer, postern: BenchPostern, titleSuffix: string): Promise<void> {
  const body = JSON.stringify(shareBody);
  const add = { url: `${postern.url}/api/v1/share/add`, method: 'POST', headers: postern.authorization, body } as const;
  const commit = { url: `${bare.url}/commit`, method: 'POST', body } as const;
  note(atLeast(`share/add, 32 at once${titleSuffix}`, 'changes/s', await measureUnderLoad(commit, add, 32), titleSuffix === '' ? 0.8 : 5));
  await loopDelay(postern);
  await measureRate(add, 32, seconds);
  // Measured after the 32 requests at once: V8 optimizes the code only after thousands of requests.
  if (titleSuffix === '') note(atLeast('share/add, one at a time', 'changes/s', await measureUnderLoad(commit, add, 1), 0.5));
  if (titleSuffix !== '')
    note(atMost(`share/add, 32 at once${titleSuffix}, p99 delay of the event loop`, await loopDelay(postern), 20, 'ms'));
}

async function measureStarts(data: string): Promise<void> {
  const start = performance.now();
  await using postern = await startPostern(data);
  await fetch(`${postern.url}/health/ready`);
  note(atMost('start to ready, second start', (performance.now() - start) / 1000, 2, 's'));
  await new Promise((resolve) => setTimeout(resolve, 75_000)); // the garbage that the start has left is collected after a minute
  note(atMost('idle memory', postern.memory().now, 120, 'MiB'));
}

async function slowReadersSection(data: string): Promise<void> {
  await using postern = await startPostern(data);
  await measureSlowReaders(note, postern, (await postern.call('share/add', shareBody)).viewId);
}

async function reverseProxySection(data: string): Promise<void> {
  if (!hasNginx()) return console.log('without nginx: files behind a reverse proxy are not measured');
  await using postern = await startPostern(data, { POSTERN_SENDFILE: 'x-accel-redirect', POSTERN_TRUSTED_PROXIES: nginxAddress });
  await measureReverseProxy(note, join(folder, 'nginx'), postern, (await postern.call('share/add', shareBody)).viewId, join(data, 'files'));
}

async function costsSection(): Promise<void> {
  await using mailServer = await startMailServer();
  const measure = async (engine: string, environment: Record<string, string>) => {
    const data = join(folder, `costs of ${engine}`);
    await using postern = await startPostern(data, { ...mailEnvironment(mailServer), ...environment });
    await measureCosts(note, postern, join(data, 'files'), engine);
  };
  await measure('SQLite', {});
  await using server = await startPostgres();
  await measure('PostgreSQL', { POSTERN_DATABASE_URL: server.url('postgres') });
}

async function pagesSection(): Promise<void> {
  const data = join(folder, 'pages');
  await using postern = await startPostern(data);
  await measurePages(note, postern, shareBody, data);
}

/** Lets Postern create its tables, fills the database without the REST API, and starts Postern again. */
async function startFilledPostern(data: string, total: number): Promise<BenchPostern> {
  await (await startPostern(data))[Symbol.asyncDispose]();
  fillSqlite(join(data, 'postern.db'), total);
  return startPostern(data);
}

/**
 * Measures searches, memory under load, and the lists of the console, with one million records.
 * @param files folder that is moved into the data folder
 */
async function searchSection(files: string): Promise<void> {
  const data = join(folder, 'million');
  mkdirSync(data);
  renameSync(files, join(data, 'files'));
  await using postern = await startFilledPostern(data, 1_000_000);
  await measureSearches(note, postern, join(data, 'postern.db'));
  await measureMemoryUnderLoad(note, postern, (await postern.call('share/add', shareBody)).viewId);
  await using few = await startFilledPostern(join(folder, 'few'), 2000);
  await compareConsoleLists(note, few, postern);
}

async function largeSection(): Promise<void> {
  await using server = await startPostgres(['shared_buffers=2GB', 'work_mem=64MB', 'random_page_cost=1.1', 'max_wal_size=16GB']);
  const admin = new pg.Client(server.url('postgres'));
  await admin.connect();
  await admin.query('CREATE DATABASE large');
  await admin.end();
  const environment = { POSTERN_DATABASE_URL: server.url('large') };
  await (await startPostern(join(folder, 'large'), environment))[Symbol.asyncDispose]();
  await fillPostgres(server.url('large'), 10_000_000);
  await using postern = await startPostern(join(folder, 'large'), environment);
  await measureLargeSearches(note, postern);
}

async function identitySection(data: string): Promise<void> {
  await using bare = await startBare();
  await measureIdentity(note, data, bare);
}

async function withServers(
  environment: Record<string, string>,
  data: string,
  work: (bare: MeasuredServer, postern: BenchPostern) => Promise<void>,
): Promise<void> {
  await using bare = await startBare(environment);
  await using postern = await startPostern(data, environment);
  await work(bare, postern);
}

try {
  const data = join(folder, 'data');
  mkdirSync(join(data, 'files', 'thousand'), { recursive: true });
  mkdirSync(join(folder, 'thousand'));
  for (const [name, bytes] of [
    ['1k.bin', 1024],
    ['100k.bin', 100_000],
    ['1g.bin', gibibyte],
  ] as const)
    for (const place of [folder, join(data, 'files')]) await fill(join(place, name), bytes);
  for (let index = 0; index < 1000; index += 1)
    for (const place of [folder, join(data, 'files')]) writeFileSync(join(place, 'thousand', `${index}.bin`), Buffer.alloc(100_000, index));
  const isSelected = (name: string) => only === undefined || only === name;
  await withServers({}, data, async (bare, postern) => {
    const share = await postern.call('share/add', shareBody);
    if (isSelected('small')) await measureSmallResponses(bare, postern, share);
    if (isSelected('files')) await measureFiles(bare, postern, share.viewId);
    if (isSelected('zip')) await measureZip(bare, postern, share.viewId);
    if (isSelected('changes')) await measureChanges(bare, postern, '');
    if (isSelected('uploads')) await measureUploads(bare, postern, share.viewId);
    if (isSelected('bytes')) await measureCpuTimes(note, bare, postern, join(data, 'files'));
  });
  if (isSelected('starts')) await measureStarts(data);
  if (isSelected('front')) await reverseProxySection(data);
  if (isSelected('pages')) await pagesSection();
  if (isSelected('costs')) await costsSection();
  if (isSelected('crowd')) await slowReadersSection(data);
  if (isSelected('mail')) await measureMail(note, data);
  if (isSelected('services') && hasRadosgw) await measureServices(note, join(folder, 'services'));
  if (isSelected('documents')) await measureDocuments(note, join(folder, 'documents'));
  if (isSelected('identity')) await identitySection(join(folder, 'identity'));
  if (isSelected('search')) await searchSection(join(data, 'files'));
  if (large) await largeSection();
  const slow = slowDiskEnvironment(folder);
  if (isSelected('slow') && slow)
    await withServers(slow, join(folder, 'slow-data'), (bare, postern) => measureChanges(bare, postern, ', a sync costs 2 ms'));
  const machine = `${new Date().toISOString().slice(0, 10)}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown processor'}, ${Math.round(totalmem() / gibibyte)} GiB, Linux ${release()}, Node.js ${process.versions.node}.`;
  const results = join(import.meta.dirname, 'RESULTS.md');
  if (compares && existsSync(results)) console.log(compareFigures(figures, readFileSync(results, 'utf8')));
  if (only === undefined || !existsSync(results)) writeFileSync(results, resultsPage(figures, machine));
} finally {
  await rm(folder, { recursive: true, force: true });
}
