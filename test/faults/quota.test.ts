import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { endProcess } from '../parts/end-process.ts';
import { isInstalled } from '../parts/is-installed.ts';
import { until } from '../ports/until.ts';
import { runPostern } from '../process/run-postern.ts';
import { newShare, temporaryFolder } from '../start.ts';

/** Returns functions that stop and resume all threads of a process, and one that reads their statuses. */
function stoppableThreads(child: ChildProcess) {
  const tasks = `/proc/${child.pid}/task`;
  /** Returns the status of each thread, as the kernel prints it. */
  const statuses = () => readdirSync(tasks).map((task) => readFileSync(join(tasks, task, 'status'), 'utf8'));
  return {
    statuses,
    async stop(): Promise<void> {
      child.kill('SIGSTOP');
      await until(() => statuses().every((status) => /^State:\t[Tt]/m.test(status)));
    },
    resume: () => child.kill('SIGCONT'),
  };
}

const options = { skip: isInstalled('strace') && process.getuid?.() === 0 ? false : 'strace and root are needed' };

test('while a disk quota is exceeded, changes get 507 and links can still be opened; afterwards changes work again', options, async (t) => {
  const data = await temporaryFolder(t);
  const postern = await runPostern(t, { POSTERN_DATA: data });
  const { viewUrl } = (await postern.send('share/add', newShare())).body;
  // Test machines have no quota, so strace makes writes to the write-ahead log and to two files beside it fail with EDQUOT.
  const files = ['postern.db-wal', 'quota-probe', 'reserve'].flatMap((name) => ['-P', join(data, name)]);
  const inject = ['-e', 'trace=write,writev,pwrite64', '-e', 'inject=write,writev,pwrite64:error=EDQUOT', ...files];
  // All threads are stopped while strace attaches or detaches, because otherwise the quota would apply to only some of them.
  const threads = stoppableThreads(postern.child);
  await threads.stop();
  const tracer = spawn('strace', ['-f', '-qq', '-o', '/dev/null', ...inject, '-p', String(postern.child.pid)], { stdio: 'ignore' });
  await until(() => threads.statuses().every((status) => /^TracerPid:\t[1-9]/m.test(status)));
  threads.resume();
  await until(async () => (await postern.send('share/add', newShare())).status === 507);
  assert.equal((await fetch(`${viewUrl}/visit`)).status, 200);
  await threads.stop();
  await endProcess(tracer, 'SIGINT');
  threads.resume();
  await until(async () => (await postern.send('share/add', newShare())).status === 200);
});
