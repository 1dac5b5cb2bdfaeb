import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createMountFolder, mountAt, unmount } from '../ports/small-disk.ts';
import { tusClient } from '../resumable-uploads/tus.ts';
import { startPostern } from '../start.ts';
import { createShare } from './visiting.ts';

test('while nothing is mounted, requests to a location with mountPoint get 503, and no upload is stored', async (t) => {
  const folder = createMountFolder(t);
  const mountPoint = join(folder, 'files');
  if (!mountAt(t, mountPoint, 'size=8m')) return;
  const postern = await startPostern(t, { environment: { POSTERN_LOCAL_ROOTS: `1:${folder}` } });
  const configuration = JSON.stringify({ folder: mountPoint, mountPoint: true });
  await postern.call('location/add', { name: 'mounted', kind: 'local', configuration });
  const { base } = await createShare(postern, { location: 'mounted' });
  const put = async (name: string) => (await postern.visit(`${base}/file/${name}`, { method: 'PUT', body: 'a text' })).status;
  assert.equal(await put('before'), 201);

  unmount(mountPoint);
  mkdirSync(mountPoint, { recursive: true });
  assert.deepEqual([await put('lost'), existsSync(join(mountPoint, 'lost'))], [503, false]);
  assert.equal((await postern.visit(`${base}/list`)).status, 503);

  mountAt(t, mountPoint, 'size=8m');
  assert.equal(await put('after'), 201);
});

test('a file can be uploaded in parts to a folder that is on another mount than its location', async (t) => {
  const folder = createMountFolder(t);
  const location = join(folder, 'files');
  if (!mountAt(t, join(location, 'disk'), 'size=8m')) return;
  const postern = await startPostern(t, { environment: { POSTERN_LOCAL_ROOTS: `1:${folder}` } });
  await postern.call('location/add', { name: 'files', kind: 'local', configuration: JSON.stringify({ folder: location }) });
  const { base } = await createShare(postern, { location: 'files', path: '/disk' });
  const tus = tusClient(postern, base);
  const address = await tus.begin('a', 6);
  assert.equal((await tus.patch(address, 0, 'abc')).status, 204);
  assert.equal((await tus.patch(address, 3, 'def')).status, 204);
  assert.equal((await postern.visit(`${base}/file/a`)).body, 'abcdef');
  assert.deepEqual(readdirSync(join(location, 'disk')), ['a']);
});
