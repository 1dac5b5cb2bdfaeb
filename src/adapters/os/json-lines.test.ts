import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openJsonLines } from './json-lines.ts';

const full = '/dev/full'; // a device of Linux that never has room
const skip = process.platform === 'linux' ? false : 'Linux has /dev/full';

test('all lines stand in the file once the log has ended', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'postern-lines-'));
  t.after(() => rm(folder, { recursive: true }));
  const lines = openJsonLines(join(folder, 'a.log'));
  for (let line = 0; line < 1000; line += 1) lines.write({ line });
  await lines[Symbol.asyncDispose]();
  const written = readFileSync(join(folder, 'a.log'), 'utf8').trimEnd().split('\n');
  assert.deepEqual(
    written.map((line) => JSON.parse(line).line),
    [...Array(1000).keys()],
  );
});

test('a log that has ended takes neither lines nor a new name, and throws at neither', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'postern-lines-'));
  t.after(() => rm(folder, { recursive: true }));
  const lines = openJsonLines(join(folder, 'a.log'));
  lines.write({ line: 1 });
  await lines[Symbol.asyncDispose]();
  lines.write({ line: 2 });
  lines.reopen();
  assert.equal(readFileSync(join(folder, 'a.log'), 'utf8'), '{"line":1}\n');
});

test('a log on a full disk keeps a few megabytes of lines, and its end does not wait for room', { skip, timeout: 30_000 }, async () => {
  const lines = openJsonLines(full);
  const text = 'x'.repeat(10_000);
  const before = process.memoryUsage().rss;
  for (let line = 0; line < 20_000; line += 1) {
    lines.write({ line, text });
    if (line % 100 === 0) await new Promise(setImmediate);
  }
  const more = process.memoryUsage().rss - before;
  assert.ok(more < 120 << 20, `${more} bytes more for 200 MB of lines`);
  await lines[Symbol.asyncDispose]();
});
