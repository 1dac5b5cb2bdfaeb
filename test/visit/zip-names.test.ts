import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startPostern } from '../start.ts';
import { createShare, sendPath } from './visiting.ts';

test('an archive whose names would need much memory is streamed without an ETag', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  const deep = join(postern.files, 'deep', ...Array.from({ length: 14 }, () => 'n'.repeat(250)));
  const fill = (from: number, to: number) => {
    for (let index = from; index < to; index += 1) writeFileSync(join(deep, `${index}`), '');
  };
  mkdirSync(deep, { recursive: true });
  fill(0, 1000);
  const small = await sendPath(postern, `${base}/zip/deep`, { method: 'HEAD' });
  assert.ok(small.headers['etag'] && Number(small.headers['content-length']) > 3_000_000);
  fill(1000, 5000);
  const large = await sendPath(postern, `${base}/zip/deep`, { method: 'HEAD' });
  assert.deepEqual([large.status, large.headers['etag']], [200, undefined]);
  const archive = await sendPath(postern, `${base}/zip/deep`);
  assert.ok(archive.bytes.length > 5000 * 2 * 3500, `${archive.bytes.length}`);
});
