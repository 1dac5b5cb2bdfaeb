import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openJsonLines } from './json-lines.ts';

const fullDevice = '/dev/full'; // a Linux device on which every write fails with ENOSPC
const skip = process.platform === 'linux' ? false : 'only Linux has /dev/full';

test('the file contains all lines after the log is closed', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'postern-lines-'));
  t.after(() => rm(folder, { recursive: true }));
  const lines = openJsonLines(join(folder, 'a.log'));
  for (let line = 0; line < 1000; line += 1) lines.write({ line });
  await lines[Symbol.asyncDispose]();
  const fileLines = readFileSync(join(folder, 'a.log'), 'utf8').trimEnd().split('\n');
  assert.deepEqual(
    fileLines.map((line) => JSON.parse(line).line),
    [...Array(1000).keys()],
  );
});

test('after a log is closed, writing to it and reopening it do nothing, and throw no error', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'postern-lines-'));
  t.after(() => rm(folder, { recursive: true }));
  const lines = openJsonLines(join(folder, 'a.log'));
  lines.write({ line: 1 });
  await lines[Symbol.asyncDispose]();
  lines.write({ line: 2 });
  lines.reopen();
  assert.equal(readFileSync(join(folder, 'a.log'), 'utf8'), '{"line":1}\n');
});

test('a log on a full disk buffers a limited number of lines, and closing it does not wait for space', {
  skip,
  timeout: 30_000,
}, async () => {
  const lines = openJsonLines(fullDevice);
  const text = 'x'.repeat(10_000);
  const rssBefore = process.memoryUsage().rss;
  for (let line = 0; line < 20_000; line += 1) {
    lines.write({ line, text });
    if (line % 100 === 0) await new Promise(setImmediate);
  }
  const growth = process.memoryUsage().rss - rssBefore;
  assert.ok(growth < 120 << 20, `${growth} bytes more for 200 MB of lines`);
  await lines[Symbol.asyncDispose]();
});
