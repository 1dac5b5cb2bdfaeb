import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fromBufferPromise } from 'yauzl';
import { newShare, startPostern, temporaryFolder } from '../start.ts';
import { createShare, jsonPostRequest, sendPath } from './visiting.ts';

const symlinks = ['to-file', 'to-folder', 'inside', 'inside-folder', 'nowhere', 'to-root'];

async function startWithSymlinks(t: TestContext) {
  const postern = await startPostern(t);
  const outside = await temporaryFolder(t);
  await writeFile(join(outside, 'secret.txt'), 'secret');
  await mkdir(join(postern.files, 'box/real'), { recursive: true });
  await writeFile(join(postern.files, 'box/real/a.txt'), 'a');
  const pathOf = (name: string) => join(postern.files, 'box', name);
  await symlink(join(outside, 'secret.txt'), pathOf('to-file'));
  await symlink(outside, pathOf('to-folder'));
  await symlink('real/a.txt', pathOf('inside'));
  await symlink('real', pathOf('inside-folder'));
  await symlink('absent', pathOf('nowhere'));
  await symlink('/', pathOf('to-root'));
  const { base } = await createShare(postern, { path: '/box' });
  return { postern, outside, base, pathOf };
}

test('a symbolic link is not listed or archived', async (t) => {
  const { postern, base } = await startWithSymlinks(t);
  const { entries, totalCount } = (await postern.visit(`${base}/list`)).body;
  assert.deepEqual(
    entries.map(({ name }: { name: string }) => name),
    ['real'],
  );
  assert.equal(totalCount, 1);
  const archive = await fromBufferPromise((await sendPath(postern, `${base}/zip`)).bytes);
  const names: string[] = [];
  for await (const { fileName } of archive.eachEntry()) names.push(fileName);
  assert.deepEqual(names.sort(), ['real/', 'real/a.txt']);
});

test('requests to list, read, change or delete a symbolic link or a path below it get 404, wherever the link points', async (t) => {
  const { postern, base } = await startWithSymlinks(t);
  for (const name of symlinks) {
    for (const route of ['list', 'file', 'view', 'zip'])
      assert.equal((await sendPath(postern, `${base}/${route}/${name}`)).status, 404, `${route} ${name}`);
    assert.equal((await sendPath(postern, `${base}/zip?name=${name}`)).status, 404, name);
    for (const inner of ['secret.txt', 'a.txt', 'etc/hostname'])
      assert.equal((await sendPath(postern, `${base}/file/${name}/${inner}`)).status, 404, `${name}/${inner}`);
    assert.equal((await postern.visit(`${base}/rename`, jsonPostRequest({ path: name, name: 'taken' }))).status, 404, name);
    assert.equal((await postern.visit(`${base}/rename`, jsonPostRequest({ path: `${name}/a.txt`, name: 'b.txt' }))).status, 404, name);
    assert.equal((await sendPath(postern, `${base}/file/${name}`, { method: 'DELETE' })).status, 404, name);
    assert.equal((await sendPath(postern, `${base}/file/${name}/new.txt`, { method: 'PUT', body: 'x' })).status, 404, name);
    assert.equal((await sendPath(postern, `${base}/folder/${name}/new`, { method: 'POST' })).status, 404, name);
  }
});

test('nothing is written through a symbolic link', async (t) => {
  const { postern, base, outside, pathOf } = await startWithSymlinks(t);
  for (const name of symlinks) {
    await sendPath(postern, `${base}/file/${name}`, { method: 'PUT', body: 'overwritten' });
    await sendPath(postern, `${base}/file/${name}`, { method: 'PUT', body: 'overwritten', headers: { 'if-match': '*' } });
    await sendPath(postern, `${base}/folder/${name}`, { method: 'POST' });
    await postern.visit(`${base}/rename`, jsonPostRequest({ path: 'real', name }));
  }
  assert.deepEqual(await readdir(outside), ['secret.txt']);
  assert.equal(await readFile(join(outside, 'secret.txt'), 'utf8'), 'secret');
  assert.equal(await readFile(pathOf('real/a.txt'), 'utf8'), 'a');
});

test('deleting a folder with symbolic links does not delete their targets', async (t) => {
  const { postern, outside } = await startWithSymlinks(t);
  const { base } = await createShare(postern);
  assert.equal((await sendPath(postern, `${base}/file/box`, { method: 'DELETE' })).status, 204);
  assert.equal(await readFile(join(outside, 'secret.txt'), 'utf8'), 'secret');
});

test('a share of a symbolic link cannot be created', async (t) => {
  const { postern } = await startWithSymlinks(t);
  for (const name of symlinks) {
    const refusal = await postern.send('share/add', newShare({ path: `/box/${name}` }));
    assert.equal(refusal.status, 400, name);
  }
});
