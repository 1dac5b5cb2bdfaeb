// Runs all tests, or the files that are named as arguments. The last line of the output is the number of passed, failed and skipped tests.
import { globSync, statfsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { inspect } from 'node:util';
import chromium from '@sparticuz/chromium';
import pg from 'pg';
import { openPostgresStore } from '../src/adapters/store/postgres/postgres-store.ts';
import { openSqliteStore } from '../src/adapters/store/sqlite/sqlite-store.ts';
import { startPostgres } from '../test/parts/postgres-server.ts';
import { templateDatabase } from '../test/parts/test-database.ts';
import { batchTestFiles } from './test-batches.ts';

const namedFiles = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const engines = process.argv.includes('--sqlite')
  ? ['SQLite']
  : process.argv.includes('--postgres')
    ? ['PostgreSQL']
    : ['SQLite', 'PostgreSQL'];
const isLong = (file: string) => /^test\/((web|process|model)\/|api\/hostile)/.test(file);
/** The longest files start first, so that none of them runs alone at the end. */
const allFiles = globSync(['src/**/*.test.ts', 'test/**/*.test.ts']).sort(
  (a, b) => Number(isLong(b)) - Number(isLong(a)) || (a < b ? -1 : 1),
);
/**
 * Number of processes that run at the same time. One more than the processors, since one process usually waits. With
 * more processes, or with both engines at the same time, a run took longer.
 */
const concurrency = availableParallelism() + 1;
/** The files that also run on PostgreSQL: those whose results depend on the database. */
const alsoOnPostgres =
  /^test\/(api\/(?!openapi)|model\/|mail\/(alerts|codes|delivery|held-mails|hostile-codes|unsubscribe)\.)|^test\/(resumable-uploads|quotas)\/|^test\/identity\/(ldap|oidc-renewal|oidc-sign-out|saml)\.|^test\/faults\/nth-call\.|^test\/visit\/(idempotency|identities|portal|link-states|recovery|earlier-changes|sessions|sign-in-(delay|kinds)|audit|two-processes)\./;
const batchFolder = join(import.meta.dirname, '../build/.test-batches');
/** Folder of Node's cache of compiled code, which the processes share. */
const compileCache = join(import.meta.dirname, '../build/.compile-cache');
/**
 * With `--built-threads`, as from `npm test`, which has just built the server, threads load the built files and start three times as fast.
 */
const execArgv = process.argv.includes('--built-threads') ? ['--import', join(import.meta.dirname, '../test/parts/built-threads.mjs')] : [];
/**
 * Time limit of a process, in ms. If a file hangs, its process is ended, with all files of its batch, and the other processes continue.
 */
const timeout = 300_000;
const minMemorySpace = 4 * 2 ** 30; // bytes
/** Returns the path of a file system in memory that has enough space for the folders of tests, or null. */
function findMemoryFolder(): string | null {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    return bavail * bsize >= minMemorySpace ? '/dev/shm' : null;
  } catch {
    return null;
  }
}
const memoryFolder = findMemoryFolder();
let [passed, failed, skipped] = [0, 0, 0];
let fileFailed = false;
/** The failed tests and test files, with their errors. They are printed again at the end of the output. */
const failures: string[] = [];
/** Duration in ms of the tests of each file, by engine and path. */
const durations = new Map<string, number>();
const isCounted = ({ details, name }: { details: { type?: string }; name: string }) =>
  details.type !== 'suite' && !name.endsWith('.test.ts');

interface FinishedTest {
  readonly file?: string | undefined;
  readonly nesting: number;
  readonly details: { readonly duration_ms: number };
}

async function runAll(engine: string, files: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const measure = ({ file, nesting, details }: FinishedTest) => {
    if (file === undefined || nesting > 0) return;
    const name = `${engine} ${relative(process.cwd(), file)}`;
    durations.set(name, (durations.get(name) ?? 0) + details.duration_ms);
  };
  const stream = run({
    files: batchTestFiles(files, batchFolder),
    concurrency,
    timeout,
    execArgv,
    env: { ...env, ...(memoryFolder === null ? {} : { POSTERN_TEST_MEMORY: memoryFolder }), NODE_COMPILE_CACHE: compileCache },
  });
  stream.on('test:pass', (event) => {
    measure(event);
    if (!isCounted(event)) return;
    if (event.skip === undefined) passed += 1;
    else skipped += 1;
  });
  stream.on('test:fail', (event) => {
    measure(event);
    if (isCounted(event)) failed += 1;
    else fileFailed = true; // a file can fail although each of its tests passed
    const file = event.file === undefined ? '' : relative(process.cwd(), event.file);
    failures.push(`${engine} ${file}: ${event.name}\n${inspect(event.details.error.cause ?? event.details.error)}`);
  });
  const finished = new Promise((resolve) => stream.once('end', resolve));
  stream.compose(spec).pipe(process.stdout, { end: false });
  await finished;
}

async function runOnSqlite(files: readonly string[]): Promise<void> {
  const template = await mkdtemp(join(memoryFolder ?? tmpdir(), 'postern-template-'));
  try {
    const store = await openSqliteStore(template, (cause) => {
      throw cause;
    });
    await store[Symbol.asyncDispose]();
    await runAll('SQLite', files, { ...process.env, POSTERN_TEST_SQLITE: template });
  } finally {
    await rm(template, { recursive: true });
  }
}

async function runOnPostgres(files: readonly string[]): Promise<void> {
  if (files.length === 0) return;
  await using server = await startPostgres();
  const admin = new pg.Client(server.url('postgres'));
  await admin.connect();
  await admin.query(`CREATE DATABASE ${templateDatabase}`);
  await admin.end();
  const store = await openPostgresStore(server.url(templateDatabase));
  await store[Symbol.asyncDispose]();
  await runAll('PostgreSQL', files, { ...process.env, POSTERN_TEST_POSTGRES: server.url('').slice(0, -1) });
}

const files = namedFiles.length > 0 ? namedFiles : allFiles;
// Unpacks the browser before the tests. Otherwise one file could start it while another is still unpacking it.
if (files.some((file) => file.startsWith('test/web/'))) await chromium.executablePath();
for (const engine of engines) {
  console.log(`\n> tests on ${engine}`);
  if (engine === 'SQLite') await runOnSqlite(files);
  else await runOnPostgres(files.filter((file) => alsoOnPostgres.test(file)));
}
const slowest = [...durations].sort((a, b) => b[1] - a[1]).slice(0, 10);
console.log(`\nslowest files:\n${slowest.map(([file, ms]) => `${Math.round(ms / 1000)} s ${file}`).join('\n')}\n`);
process.on('exit', () => {
  if (fileFailed && failed === 0) failed += 1;
  if (passed === 0) failed += 1; // a run without tests proves nothing
  if (failures.length > 0) console.log(`failed:\n${failures.join('\n')}\n`);
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  if (failed > 0) process.exitCode = 1;
});
