import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isInstalled } from '../parts/is-installed.ts';
import { until } from '../ports/until.ts';
import { runPostern } from '../process/run-postern.ts';
import { newShare, temporaryFolder } from '../start.ts';

test('while a disk quota is used up, changes get 507 and links open; afterwards changes work again', async (t) => {
  if (!isInstalled('strace') || process.getuid?.() !== 0) return t.skip('strace and root are needed');
  const data = await temporaryFolder(t);
  const postern = await runPostern(t, { POSTERN_DATA: data });
  const { viewUrl } = (await postern.send('share/add', newShare())).body;
  // Test machines have no quota, so strace makes writes to the database and to files beside it fail with EDQUOT.
  const files = ['postern.db-wal', 'quota-probe', 'reserve'].flatMap((name) => ['-P', join(data, name)]);
  const inject = ['-e', 'trace=write,writev,pwrite64', '-e', 'inject=write,writev,pwrite64:error=EDQUOT', ...files];
  const quota = spawn('strace', ['-f', '-qq', '-o', '/dev/null', ...inject, '-p', String(postern.child.pid)], { stdio: 'ignore' });
  await until(() => /^TracerPid:\t[1-9]/m.test(readFileSync(`/proc/${postern.child.pid}/status`, 'utf8')));
  await until(async () => (await postern.send('share/add', newShare())).status === 507);
  assert.equal((await fetch(`${viewUrl}/visit`)).status, 200);
  quota.kill('SIGINT');
  await once(quota, 'exit');
  await until(async () => (await postern.send('share/add', newShare())).status === 200);
});
