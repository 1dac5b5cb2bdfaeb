import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newShare, startPostern } from '../start.ts';

test('a share that was fetched can be edited and sent back whole', async (t) => {
  const postern = await startPostern(t);
  const { id } = await postern.call('share/add', newShare({ title: 'Audit 2026' }));

  const share = await postern.call('share/get', { id });
  await postern.call('share/update', { ...share, title: 'Audit 2026, final' });

  const { etag, updateDateTime, ...after } = await postern.call('share/get', { id });
  const { etag: etagBefore, updateDateTime: _, ...before } = share;
  assert.deepEqual(after, { ...before, title: 'Audit 2026, final' });
  assert.notEqual(etag, etagBefore);
  assert.ok(updateDateTime >= share.updateDateTime);
});
