import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { writePrivateFileOnce } from './durable-file.ts';

test('a second write does not replace the secret key, and only the owner of the file can read it', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'postern-test-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'secret-key');
  for (const text of ['the first', 'another']) writePrivateFileOnce(file, text);
  assert.equal(readFileSync(file, 'utf8'), 'the first');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(folder), ['secret-key']);
});
