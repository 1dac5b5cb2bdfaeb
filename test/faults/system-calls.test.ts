import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { endProcess } from '../parts/end-process.ts';
import { isInstalled } from '../parts/is-installed.ts';
import { until } from '../ports/until.ts';
import { type RunningPostern, runPostern } from '../process/run-postern.ts';
import { type Json, newShare, temporaryFolder } from '../start.ts';

/** The test runs only in `npm run test:faults`, because recovery can take ten seconds per failure. */
const isLong = process.env['POSTERN_FAULTS'] === 'long';
const calls = ['openat', 'mkdir', 'link', 'rename', 'unlink', 'fsync', 'fchmod', 'fdatasync', 'write', 'pwrite64', 'lstat', 'statx'];

interface Action {
  readonly action: string;
  readonly prepare: (file: (name: string) => string, name: string) => void;
  readonly act: (base: string, name: string) => Promise<Response>;
  readonly tookPlace: (file: (name: string) => string, name: string) => boolean;
}

const actions: readonly Action[] = [
  {
    action: 'upload',
    prepare: () => {},
    act: (base, name) => fetch(`${base}/file/${name}`, { method: 'PUT', body: 'a text' }),
    tookPlace: (file, name) => existsSync(file(name)) && readFileSync(file(name), 'utf8') === 'a text',
  },
  {
    action: 'createFolder',
    prepare: () => {},
    act: (base, name) => fetch(`${base}/folder/${name}`, { method: 'POST' }),
    tookPlace: (file, name) => existsSync(file(name)),
  },
  {
    action: 'rename',
    prepare: (file, name) => writeFileSync(file(name), 'a text'),
    act: (base, name) =>
      fetch(`${base}/rename`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ path: name, name: `${name}-renamed` }),
      }),
    tookPlace: (file, name) => existsSync(file(`${name}-renamed`)),
  },
  {
    action: 'delete',
    prepare: (file, name) => mkdirSync(file(name)),
    act: (base, name) => fetch(`${base}/file/${name}`, { method: 'DELETE' }),
    tookPlace: (file, name) => !existsSync(file(name)),
  },
];

/** While `work` runs, makes the first system call `call` of each thread on `folder` fail with EIO. */
async function withFailing<T>(postern: RunningPostern, folder: string, call: string, work: () => Promise<T>): Promise<T> {
  const inject = ['-e', `trace=${call}`, '-e', `inject=${call}:error=EIO:when=1`, '-P', folder];
  const tracer = spawn('strace', ['-f', '-qq', '-o', '/dev/null', ...inject, '-p', String(postern.child.pid)], { stdio: 'ignore' });
  await until(() => /^TracerPid:\t[1-9]/m.test(readFileSync(`/proc/${postern.child.pid}/status`, 'utf8')));
  try {
    return await work();
  } finally {
    await endProcess(tracer, 'SIGINT');
  }
}

async function startWithShare(t: TestContext) {
  const data = await temporaryFolder(t);
  const postern = await runPostern(t, { POSTERN_DATA: data });
  const { viewId } = (await postern.send('share/add', newShare())).body;
  return { postern, files: join(data, 'files'), base: `${postern.publicUrl}/s/${viewId}` };
}

test('if a system call on the folder `files` fails, the disk and the audit log agree within seconds', {
  timeout: 900_000,
}, async (t) => {
  if (!isLong) return t.skip('only npm run test:faults runs this test');
  if (!isInstalled('strace') || process.getuid?.() !== 0) return t.skip('strace and root are needed');
  const { postern, files, base } = await startWithShare(t);
  const file = (name: string) => join(files, name);
  for (const { action, prepare, act, tookPlace } of actions)
    for (const call of calls) {
      const name = `${action}-${call}`;
      prepare(file, name);
      const response = await withFailing(postern, files, call, () => act(base, name));
      const [{ status }, text] = [response, await response.text()];
      const outcomes = async (): Promise<string[]> => {
        const { body } = await postern.send('audit/search', { action });
        return body.list.filter(({ path }: Json) => path.startsWith(`/${name}`)).map(({ outcome }: Json) => outcome);
      };
      await until(async () => !(await outcomes()).includes('begun'));
      const hasTakenPlace = tookPlace(file, name);
      assert.ok(
        status < 300 ? hasTakenPlace : status >= 500,
        `${name}: ${status}, and the action ${hasTakenPlace ? 'took place' : 'did not take place'}`,
      );
      if (hasTakenPlace && status >= 500) assert.match(text, /may have taken place/, name);
      assert.equal(
        (await outcomes()).filter((outcome) => outcome === 'done').length,
        hasTakenPlace ? 1 : 0,
        `${name}: ${status}, ${await outcomes()}`,
      );
    }
});
