import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { isOutOfSpace } from './out-of-space.ts';

const writeFailed = Object.assign(new Error('disk I/O error'), { errcode: 778 });

test('if the disk or its quota was full before, a failed write counts as out of space, even if space has become free since then', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'postern-quota-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'postern.db');
  assert.equal(isOutOfSpace(writeFailed, file, true), true);
  assert.equal(isOutOfSpace(writeFailed, file), false, 'if neither the disk nor its quota was full before, the disk has failed');
});

test('if the test write fails for a reason other than space, the error counts as a disk failure', () => {
  assert.equal(isOutOfSpace(writeFailed, '/nowhere/postern.db', true), false);
});
