import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { settleChanges } from '#features/visits/settle.ts';
import { uploadUnrecorded } from '../parts/unrecorded-upload.ts';
import { startPostern } from '../start.ts';
import { linkTo } from './visiting.ts';

test('an upload that is in place while its outcome cannot be written is recorded as done later, and alerted', async (t) => {
  const postern = await startPostern(t);
  const { base } = await linkTo(postern, { alertUpload: true, notifyEmails: 'owner@example.com' });
  await uploadUnrecorded(t, postern, `${base}/file/a.txt`);
  assert.equal(await readFile(join(postern.files, 'a.txt'), 'utf8'), 'kept');

  await settleChanges(postern.ports, new Set());

  const { list } = await postern.call('audit/search', { action: 'upload' });
  assert.deepEqual(
    list.map(({ outcome, path }: { outcome: string; path: string }) => [outcome, path]),
    [['done', '/a.txt']],
  );
  const owed = await postern.ports.store.read.selectFrom('alert').selectAll().execute();
  assert.deepEqual(
    owed.map(({ action, emails }) => [action, emails]),
    [['upload', 'owner@example.com']],
  );
  assert.deepEqual(await readdir(join(postern.files, '.postern')), []);
});
