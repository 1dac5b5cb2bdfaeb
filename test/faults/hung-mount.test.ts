// A real mount that hangs: strace blocks the process of a FUSE file system in one of its system calls.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { atEnd } from '../parts/at-end.ts';
import { endProcess } from '../parts/end-process.ts';
import { isInstalled } from '../parts/is-installed.ts';
import { until } from '../ports/until.ts';
import { runPostern } from '../process/run-postern.ts';
import { newShare, temporaryFolder } from '../start.ts';

const isLong = process.env['POSTERN_FAULTS'] === 'long';
const blockTime = 3_600_000_000; // µs
const large = 3 << 20; // bytes

const missingRequirement = () =>
  process.getuid?.() !== 0 || !existsSync('/dev/fuse')
    ? 'root and /dev/fuse are needed'
    : ['bindfs', 'strace'].filter((name) => !isInstalled(name)).map((name) => `${name} is not installed`)[0];

/** Mounts a FUSE file system over a folder. @returns a function that makes it hang in a system call */
async function mountAt(t: TestContext, folder: string, source: string) {
  const daemon = spawn('bindfs', ['-f', source, folder], { stdio: 'ignore' });
  atEnd(t, async () => {
    spawnSync('umount', ['-l', folder]);
    await endProcess(daemon, 'SIGKILL');
  });
  const { dev } = statSync(source);
  await until(() => statSync(folder).dev !== dev);
  /** Makes the file system hang. @returns a function that lets it respond again */
  return async function hangIn(call: string): Promise<() => Promise<void>> {
    const inject = ['-e', `trace=${call}`, '-e', `inject=${call}:delay_enter=${blockTime}`];
    const tracer = spawn('strace', ['-f', '-qq', '-o', '/dev/null', ...inject, '-p', String(daemon.pid)], { stdio: 'ignore' });
    await until(() => /^TracerPid:\t[1-9]/m.test(readFileSync(`/proc/${daemon.pid}/status`, 'utf8')));
    const release = () => endProcess(tracer, 'SIGINT');
    atEnd(t, release);
    return release;
  };
}

async function startWithMount(t: TestContext) {
  const [data, base] = [await temporaryFolder(t), await temporaryFolder(t)];
  const [folder, source] = [join(base, 'mounted'), join(base, 'source')];
  for (const path of [folder, source, join(source, 'old')]) mkdirSync(path);
  writeFileSync(join(source, 'small'), 'a text');
  writeFileSync(join(source, 'large'), Buffer.alloc(large, 7));
  const hangIn = await mountAt(t, folder, source);
  const environment = { POSTERN_DATA: data, POSTERN_LOCAL_ROOTS: `1:${base}` };
  const postern = await runPostern(t, environment);
  await postern.send('location/add', { name: 'hung', kind: 'local', configuration: JSON.stringify({ folder, mountPoint: true }) });
  const createLink = async (over: object) => `${postern.publicUrl}/s/${(await postern.send('share/add', newShare(over))).body.viewId}`;
  return { postern, environment, hangIn, hung: await createLink({ location: 'hung', path: '/' }), other: await createLink({ path: '/' }) };
}

const statusOf = async (address: string, init: RequestInit = {}) => (await fetch(address, init)).status;
const renameRequest = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ path: 'old', name: 'new' }),
};

/** System calls of the mount, each with a request that needs it. */
const blockedCalls: readonly { readonly call: string; readonly path: string; readonly init?: RequestInit; readonly long?: true }[] = [
  { call: 'mkdir', path: 'folder/made', init: { method: 'POST' } },
  { call: 'pread64', path: 'file/large' },
  { call: 'openat', path: 'file/small', long: true },
  { call: 'newfstatat', path: 'list', long: true },
  { call: 'getdents64', path: 'list', long: true },
  { call: 'pwrite64', path: 'file/uploaded', init: { method: 'PUT', body: Buffer.alloc(large, 1) }, long: true },
  { call: 'fsync', path: 'file/uploaded', init: { method: 'PUT', body: 'a text' }, long: true },
  { call: 'link', path: 'file/uploaded', init: { method: 'PUT', body: 'a text' }, long: true },
  { call: 'rename', path: 'rename', init: renameRequest, long: true },
];

for (const { call, path, init, long } of blockedCalls)
  test(`while a mount hangs in ${call}, other locations and the health check respond, and a request to the mount succeeds once the mount responds again`, {
    timeout: 120_000,
    skip: missingRequirement() ?? (long && !isLong ? 'only npm run test:faults runs this test' : false),
  }, async (t) => {
    const { postern, hangIn, hung, other } = await startWithMount(t);
    const release = await hangIn(call);
    let isAnswered = false;
    const answer = statusOf(`${hung}/${path}`, init).finally(() => {
      isAnswered = true;
    });
    for (const name of ['one', 'two']) {
      assert.equal(await statusOf(`${other}/file/${name}`, { method: 'PUT', body: Buffer.alloc(large, 1) }), 201);
      assert.equal(await statusOf(`${other}/file/${name}`), 200);
      assert.equal(await statusOf(`${other}/list`), 200);
      assert.equal(await statusOf(`${other}/folder/${name}-folder`, { method: 'POST' }), 201);
      assert.equal(await statusOf(`${postern.publicUrl}/health/live`), 200);
      assert.equal((await postern.send('share/search')).status, 200);
    }
    assert.ok(!isAnswered, `the mount no longer hangs in ${call}`);
    await release();
    assert.ok((await answer) < 300);
  });

test('while a mount hangs, Postern stops on SIGTERM, and another process starts with the same data', {
  timeout: 120_000,
  skip: missingRequirement() ?? false,
}, async (t) => {
  const { postern, environment, hangIn, hung, other } = await startWithMount(t);
  assert.equal(await statusOf(`${other}/file/kept`, { method: 'PUT', body: 'a text' }), 201);
  const release = await hangIn('mkdir');
  const creating = fetch(`${hung}/folder/made`, { method: 'POST' }).catch(() => null);
  await until(async () => (await postern.send('audit/search', { action: 'createFolder' })).body.list.length === 1);
  postern.child.kill('SIGTERM');
  // The test does not wait for the end of the process yet: no signal ends its blocked thread before the mount responds.
  await postern.waitForOutput(/Postern exits without waiting/);
  await creating;
  const next = await runPostern(t, environment);
  assert.equal(await statusOf(`${next.publicUrl}${new URL(other).pathname}/file/kept`), 200);
  await release();
  await postern.ended;
});
