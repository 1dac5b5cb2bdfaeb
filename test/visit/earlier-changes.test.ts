import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rootPath } from '#core/item-path.ts';
import { recordEarlierChanges } from '#features/visits/files/record-earlier-changes.ts';
import type { PendingFileChange } from '#ports/storage.ts';
import { startWithBlockedMethod } from '../parts/intercepted-postern.ts';
import { until } from '../ports/until.ts';
import { createShare, sendPath } from './visiting.ts';

test('a new file does not wait for other uploads with its name, but a replacement finds out the outcome of each of them', async (t) => {
  const { postern, calls, release } = await startWithBlockedMethod(t, 'upload.place');
  const { base } = await createShare(postern);
  const uploads = Array.from({ length: 5 }, () => sendPath(postern, `${base}/file/a.txt`, { method: 'PUT', body: 'text' }));
  await until(() => calls() === 5);
  const recovered: PendingFileChange[] = [];
  const storage = {
    traits: { create: 'checked', replace: 'checked', folders: 'real', openAhead: 0 },
    recover: async (change: PendingFileChange) => {
      recovered.push(change);
      return null;
    },
    giveUp: async () => false,
    clearEvidence: async () => {},
    folderKey: async () => '',
  } as const;
  const used = { tid: 1, locationId: 1, parent: rootPath, names: ['a.txt'] };
  await recordEarlierChanges(postern.ports, storage, { ...used, existing: null }, 'later');
  assert.equal(recovered.length, 0);
  await recordEarlierChanges(postern.ports, storage, { ...used, existing: 'a.txt' }, 'later');
  assert.equal(recovered.length, 5);
  release();
  await Promise.all(uploads);
});
