import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Json, newShare, startPostern } from '../start.ts';

test('share/search by path finds shares at or below that path, and none at paths with a similar name', async (t) => {
  const postern = await startPostern(t);
  for (const folder of ['a/b/c', 'a/bc', 'A', 'a%']) await mkdir(join(postern.files, folder), { recursive: true });
  await writeFile(join(postern.files, 'a/b/f.txt'), 'x');
  for (const path of ['/', '/a', '/a/b', '/a/b/c', '/a/bc', '/A', '/a%']) await postern.call('share/add', newShare({ title: path, path }));
  await postern.call('share/add', newShare({ title: '/a/b/f.txt', path: '/a/b/f.txt', folder: false }));
  const titlesUnder = async (path: string) => (await postern.call('share/search', { path })).list.map(({ title }: Json) => title).sort();
  assert.deepEqual(await titlesUnder('/a/b'), ['/a/b', '/a/b/c', '/a/b/f.txt']);
  assert.deepEqual(await titlesUnder('/a'), ['/a', '/a/b', '/a/b/c', '/a/b/f.txt', '/a/bc']);
  assert.deepEqual(await titlesUnder('/A'), ['/A']);
  assert.deepEqual(await titlesUnder('/a%'), ['/a%']);
  assert.equal((await titlesUnder('/')).length, 8);
});

for (const path of ['/../etc', '/a/../..', '..', '/.postern', '/.POSTERN/x', '/.postern-x', '/a//b', '/a/./b', '/a\\b', '/a\u0000b', ''])
  test(`share/add refuses the path ${JSON.stringify(path)}`, async (t) => {
    const postern = await startPostern(t);
    await mkdir(join(postern.files, 'a/b'), { recursive: true });
    const { status, body } = await postern.send('share/add', newShare({ path }));
    assert.equal(status, 400);
    assert.deepEqual(
      body.errors.map(({ field }: Json) => field),
      ['path'],
    );
  });

test('share/add refuses a path that does not exist, and a folder flag that does not match the path', async (t) => {
  const postern = await startPostern(t);
  const errorFields = async (over: object) => (await postern.send('share/add', newShare(over))).body.errors.map(({ field }: Json) => field);
  assert.deepEqual(await errorFields({ path: '/nothing' }), ['path']);
  assert.deepEqual(await errorFields({ path: '/welcome.txt', folder: true }), ['folder']);
  assert.deepEqual(await errorFields({ path: '/', folder: false }), ['folder']);
  assert.deepEqual(await errorFields({ path: '/welcome.txt/deeper' }), ['path']);
});
