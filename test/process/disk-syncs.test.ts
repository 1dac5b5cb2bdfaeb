// Without a sync of the folder, a power failure can remove a file that has its final name. strace shows the syncs that are made.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { endProcess } from '../parts/end-process.ts';
import { isInstalled } from '../parts/is-installed.ts';
import { until } from '../ports/until.ts';
import { newShare, temporaryFolder } from '../start.ts';
import { noPermissions } from '../visit/visiting.ts';
import { runPostern } from './run-postern.ts';

const project = join(import.meta.dirname, '../..');
const traceOptions = ['-f', '-y', '-e', 'trace=link,linkat,rename,renameat,renameat2,fsync,fdatasync'];
const disableWarning = '--disable-warning=ExperimentalWarning';

/** Runs Node. @returns its calls of the traced functions on `path`, one line each; null: the test is skipped */
function traceNode(t: TestContext, path: string, args: readonly string[], environment: Record<string, string> = {}): string[] | null {
  if (!isInstalled('strace')) {
    t.skip('strace is not installed');
    return null;
  }
  const trace = join(path, 'trace');
  const { PATH = '' } = process.env;
  const options = { cwd: project, encoding: 'utf8', env: { PATH, ...environment } } as const;
  const { status, stderr } = spawnSync('strace', [...traceOptions, '-o', trace, process.execPath, ...args], options);
  if (status !== 0 && /ptrace/.test(stderr)) {
    t.skip('this machine does not permit tracing');
    return null;
  }
  assert.equal(status, 0, stderr);
  return linesWith(trace, path);
}

const linesWith = (trace: string, path: string) =>
  readFileSync(trace, 'utf8')
    .split('\n')
    .filter((line) => line.includes(path));

/** Names what each call does. @param file part of the name of the file: a sync of anything else counts as the sync of the folder */
const stepsOf = (calls: readonly string[], file: string) =>
  calls.map((line) => (/(rename|link)\w*\(/.test(line) ? 'new name' : line.includes(file) ? 'sync of the file' : 'sync of the folder'));

test('a private file is synced before its rename, and its folder after the rename, so that the file survives a power failure', async (t) => {
  const data = await temporaryFolder(t);
  const durableFile = pathToFileURL(join(project, 'src/adapters/os/durable-file.ts'));
  const script = `import { writePrivateFile } from ${JSON.stringify(durableFile)};
    writePrivateFile(${JSON.stringify(join(data, 'private-file'))}, 'text');`;
  const calls = traceNode(t, data, ['--input-type=module', '-e', script]);
  if (calls) assert.deepEqual(stepsOf(calls, 'private-file'), ['sync of the file', 'new name', 'sync of the folder']);
});

test('a finished backup survives a power failure: it is synced before it gets its name, and its folder is synced after', async (t) => {
  const folder = await temporaryFolder(t);
  const environment = { POSTERN_DATA: join(folder, 'data') };
  const postern = await runPostern(t, environment);
  await endProcess(postern.child, 'SIGTERM');
  const backups = join(folder, 'backups');
  mkdirSync(backups);
  const command = [disableWarning, 'build/server/maintain.js', 'backup', join(backups, 'backup.gz')];
  const calls = traceNode(t, backups, command, environment);
  if (calls) assert.deepEqual(stepsOf(calls, 'backup.gz'), ['sync of the file', 'new name', 'sync of the folder']);
});

test('an upload to a drop box makes the same syncs whether or not its name is taken', async (t) => {
  if (!isInstalled('strace') || process.getuid?.() !== 0) return t.skip('strace and root are needed');
  const data = await temporaryFolder(t);
  const postern = await runPostern(t, { POSTERN_DATA: data });
  const files = join(data, 'files');
  const box = join(files, 'box');
  mkdirSync(box);
  const { viewId } = (await postern.send('share/add', newShare({ ...noPermissions, canUpload: true, path: '/box' }))).body;
  const upload = async (name: string, size: number) => {
    const response = await fetch(`${postern.publicUrl}/s/${viewId}/file/${name}`, { method: 'PUT', body: Buffer.alloc(size) });
    assert.equal(response.status, 201, await response.text());
  };
  const names = ['taken.txt', ...Array.from({ length: 30 }, (_, index) => `taken (${index + 2}).txt`)];
  for (const name of names) writeFileSync(join(box, name), 'first');
  /** Uploads a file. @returns the number of syncs of files and folders of the location */
  const syncsDuring = async (name: string, size: number): Promise<number> => {
    const trace = join(data, `trace-${name}-${size}`);
    const tracer = spawn('strace', [...traceOptions, '-o', trace, '-p', String(postern.child.pid)], { stdio: 'ignore' });
    await until(() => /^TracerPid:\t[1-9]/m.test(readFileSync(`/proc/${postern.child.pid}/status`, 'utf8')));
    await upload(name, size);
    await endProcess(tracer, 'SIGINT');
    return linesWith(trace, files).filter((line) => /f(data)?sync\(/.test(line)).length;
  };
  for (const size of [100, 1_000_000]) {
    await upload(`before-${size}.txt`, size); // the first upload also creates `.postern`
    const [whenFree, whenTaken] = [await syncsDuring(`free-${size}.txt`, size), await syncsDuring('taken.txt', size)];
    assert.ok(whenFree >= 2, `${whenFree} syncs, but the file and its folder need at least two`);
    assert.equal(whenTaken, whenFree, `${size} bytes`);
  }
});
