import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { runPostern } from '../process/run-postern.ts';
import { newShare, temporaryFolder } from '../start.ts';

const aborts = process.env['POSTERN_FAULTS'] === 'long' ? 4000 : 600;
const maxGrowth = 256; // MiB; if read buffers were not reused, each aborted download would keep 2 MiB

/** Returns the resident memory of a process in MiB. */
const memoryOf = (pid: number | undefined) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

test('downloads that visitors abort do not fill the memory', { timeout: 120_000 }, async (t) => {
  const data = await temporaryFolder(t);
  const postern = await runPostern(t, { POSTERN_DATA: data });
  const { viewId } = (await postern.send('share/add', newShare())).body;
  writeFileSync(join(data, 'files/large.bin'), '');
  truncateSync(join(data, 'files/large.bin'), 6 << 20);
  async function abortDownload(): Promise<void> {
    const [response] = await once(get(`${postern.publicUrl}/s/${viewId}/file/large.bin`, { agent: false }), 'response');
    await once(response, 'data');
    response.destroy();
  }
  const before = memoryOf(postern.child.pid);
  for (let count = 0; count < aborts; count += 4) await Promise.all(Array.from({ length: 4 }, abortDownload));
  const growth = memoryOf(postern.child.pid) - before;
  assert.ok(growth < maxGrowth, `${growth.toFixed(0)} MiB more after ${aborts} aborted downloads`);
});
