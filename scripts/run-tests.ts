// Runs every test, or those named, and ends with the line that CI counts.
import { globSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import chromium from '@sparticuz/chromium';
import pg from 'pg';
import { openPostgresStore } from '../src/adapters/store/postgres/postgres-store.ts';
import { startPostgres } from '../test/parts/postgres-server.ts';
import { template } from '../test/parts/test-database.ts';

const named = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const engines = process.argv.includes('--sqlite')
  ? ['SQLite']
  : process.argv.includes('--postgres')
    ? ['PostgreSQL']
    : ['SQLite', 'PostgreSQL'];
const isLong = (file: string) => /^test\/((web|process|model)\/|api\/hostile)/.test(file);
/** What takes longest begins first: none of it is left to run alone at the end. */
const all = globSync(['src/**/*.test.ts', 'test/**/*.test.ts']).sort((a, b) => Number(isLong(b)) - Number(isLong(a)) || (a < b ? -1 : 1));
/** Files at once: one may wait. More of them took longer, and both engines beside each other, too. */
const atOnce = availableParallelism() + 1;
/** The interface, and what of the link the database keeps; decisions and bytes do not depend on it. */
const asksTheDatabase =
  /^test\/(api\/(?!openapi)|model\/)|^test\/faults\/nth-call\.|^test\/visit\/(idempotency|portal|reaching|sessions|sign-in-delay|audit)\./;
/** Each file is a process of its own: what it loads is compiled once for all. */
const compileCache = join(import.meta.dirname, '../build/.compile-cache');
/** A test that hangs fails, and the others go on; ms. Far longer than the slowest file takes on a loaded machine. */
const timeout = 300_000;
const roomInMemory = 4 * 2 ** 30; // bytes
/** A file system in memory with room for the folders of tests; null: there is none. */
function folderInMemory(): string | null {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    return bavail * bsize >= roomInMemory ? '/dev/shm' : null;
  } catch {
    return null;
  }
}
const memory = folderInMemory();
let [passed, failed, skipped] = [0, 0, 0];
let fileFailed = false;
const counts = ({ details, name }: { details: { type?: string }; name: string }) => details.type !== 'suite' && !name.endsWith('.test.ts');

async function runAll(files: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const stream = run({
    files: [...files],
    concurrency: atOnce,
    timeout,
    env: { ...env, ...(memory === null ? {} : { POSTERN_TEST_MEMORY: memory }), NODE_COMPILE_CACHE: compileCache },
  });
  stream.on('test:pass', (event) => {
    if (!counts(event)) return;
    if (event.skip === undefined) passed += 1;
    else skipped += 1;
  });
  stream.on('test:fail', (event) => {
    if (counts(event)) failed += 1;
    else fileFailed = true; // a file that ends badly has failed, even where each of its tests passed
  });
  const ended = new Promise((resolve) => stream.once('end', resolve));
  stream.compose(spec).pipe(process.stdout, { end: false });
  await ended;
}

async function runOnPostgres(files: readonly string[]): Promise<void> {
  if (files.length === 0) return;
  await using server = await startPostgres();
  const admin = new pg.Client(server.url('postgres'));
  await admin.connect();
  await admin.query(`CREATE DATABASE ${template}`);
  await admin.end();
  const store = await openPostgresStore(server.url(template));
  await store[Symbol.asyncDispose]();
  await runAll(files, { ...process.env, POSTERN_TEST_POSTGRES: server.url('').slice(0, -1) });
}

const files = named.length > 0 ? named : all;
// Of files that begin together, one would start the browser that another is still unpacking.
if (files.some((file) => file.startsWith('test/web/'))) await chromium.executablePath();
for (const engine of engines) {
  console.log(`\n> tests on ${engine}`);
  if (engine === 'SQLite') await runAll(files, process.env);
  else await runOnPostgres(files.filter((file) => asksTheDatabase.test(file)));
}
process.on('exit', () => {
  if (fileFailed && failed === 0) failed += 1;
  if (passed === 0) failed += 1; // a run without a test proves nothing
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  if (failed > 0) process.exitCode = 1;
});
