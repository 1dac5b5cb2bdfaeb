import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { atEnd } from '../parts/at-end.ts';
import { zipContents } from '../parts/zip-contents.ts';
import { startPostern } from '../start.ts';
import { createShare, sendPath } from './visiting.ts';

/** Returns the names and texts of an archive, with null for a folder. */
async function contents(bytes: Buffer): Promise<Record<string, string | null>> {
  const items = Object.entries(await zipContents(bytes));
  return Object.fromEntries(items.map(([name, content]) => [name, content?.toString() ?? null]));
}

async function startWithFiles(t: TestContext) {
  const postern = await startPostern(t);
  await mkdir(join(postern.files, 'box/inner/deep'), { recursive: true });
  await mkdir(join(postern.files, 'box/empty'));
  await mkdir(join(postern.files, 'box/.postern'));
  await writeFile(join(postern.files, 'box/.postern/hidden'), 'h');
  await writeFile(join(postern.files, 'box/a.txt'), 'a');
  await writeFile(join(postern.files, 'box/naïve 日本 🗂.txt'), 'n');
  await writeFile(join(postern.files, 'box/zero'), '');
  await writeFile(join(postern.files, 'box/inner/b.txt'), 'b');
  await writeFile(join(postern.files, 'box/inner/deep/c.txt'), 'c'.repeat(700_000));
  const { base } = await createShare(postern, { path: '/box' });
  return { postern, base };
}

test('the archive of a folder is valid and contains all its items except .postern, with UTF-8 names', async (t) => {
  const { postern, base } = await startWithFiles(t);
  const answer = await sendPath(postern, `${base}/zip`);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers['content-type'], 'application/zip');
  assert.match(answer.headers['content-disposition'] ?? '', /^attachment; filename="?box\.zip"?$/);
  assert.deepEqual(await contents(answer.bytes), {
    'a.txt': 'a',
    'naïve 日本 🗂.txt': 'n',
    zero: '',
    'empty/': null,
    'inner/': null,
    'inner/b.txt': 'b',
    'inner/deep/': null,
    'inner/deep/c.txt': 'c'.repeat(700_000),
  });
});

test('a subfolder of a share and an entire location can be downloaded as archives', async (t) => {
  const { postern, base } = await startWithFiles(t);
  assert.deepEqual(Object.keys(await contents((await sendPath(postern, `${base}/zip/inner`)).bytes)).sort(), [
    'b.txt',
    'deep/',
    'deep/c.txt',
  ]);
  const all = await createShare(postern);
  const answer = await sendPath(postern, `${all.base}/zip`);
  assert.match(answer.headers['content-disposition'] ?? '', /\.zip/);
  const names = Object.keys(await contents(answer.bytes));
  assert.ok(names.includes('box/inner/b.txt'));
  assert.ok(!names.some((name) => name.includes('.postern')));
});

test('the name parameters select the entries of an archive', async (t) => {
  const { postern, base } = await startWithFiles(t);
  const selection = await sendPath(postern, `${base}/zip?name=${encodeURIComponent('naïve 日本 🗂.txt')}&name=inner`);
  assert.deepEqual(Object.keys(await contents(selection.bytes)).sort(), [
    'inner/',
    'inner/b.txt',
    'inner/deep/',
    'inner/deep/c.txt',
    'naïve 日本 🗂.txt',
  ]);
  const below = await sendPath(postern, `${base}/zip/inner?name=b.txt`);
  assert.deepEqual(await contents(below.bytes), { 'b.txt': 'b' });
  const twice = await sendPath(postern, `${base}/zip?name=a.txt&name=a.txt`);
  assert.deepEqual(await contents(twice.bytes), { 'a.txt': 'a' });
});

test('an archive request gets 404 for a missing name and 400 for an invalid name', async (t) => {
  const { postern, base } = await startWithFiles(t);
  assert.equal((await sendPath(postern, `${base}/zip?name=a.txt&name=absent`)).status, 404);
  for (const name of ['..', 'inner%2fb.txt', '.postern', '', '%00', 'a%5cb'])
    assert.equal((await sendPath(postern, `${base}/zip?name=${name}`)).status, 400, name);
});

test('a file or a share of one file cannot be downloaded as an archive', async (t) => {
  const { postern, base } = await startWithFiles(t);
  assert.equal((await sendPath(postern, `${base}/zip/a.txt`)).status, 404);
  const one = await createShare(postern, { path: '/box/a.txt', folder: false });
  assert.equal((await sendPath(postern, `${one.base}/zip`)).status, 404);
});

test('HEAD of an archive returns its headers without its content', async (t) => {
  const { postern, base } = await startWithFiles(t);
  const answer = await sendPath(postern, `${base}/zip`, { method: 'HEAD' });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers['content-type'], 'application/zip');
  assert.equal(answer.text, '');
});

test('an item that is neither a file nor a folder is not archived, downloaded or listed', async (t) => {
  const { postern, base } = await startWithFiles(t);
  const socket = createServer().listen(join(postern.files, 'box/socket'));
  await new Promise((resolve) => socket.once('listening', resolve));
  atEnd(t, () => socket.close());
  assert.ok(!Object.keys(await contents((await sendPath(postern, `${base}/zip`)).bytes)).includes('socket'));
  assert.equal((await sendPath(postern, `${base}/file/socket`)).status, 404);
  const { body } = await postern.visit(`${base}/list`);
  assert.ok(!body.entries.some(({ name }: { name: string }) => name === 'socket'));
});

test('downloading an archive requires canDownloadFolder', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern, { canDownloadFolder: false });
  assert.equal((await sendPath(postern, `${base}/zip`)).status, 403);
});

test('an archive of folders nested too deeply is refused, and one with 200 levels is complete', async (t) => {
  const postern = await startPostern(t);
  const nestedPath = (levels: number) => Array.from({ length: levels }, () => 'd').join('/');
  await mkdir(join(postern.files, 'deep', nestedPath(1500)), { recursive: true });
  await mkdir(join(postern.files, 'shallow', nestedPath(200)), { recursive: true });
  const { base } = await createShare(postern);
  const refusal = await sendPath(postern, `${base}/zip/deep`);
  assert.deepEqual([refusal.status, refusal.json.code], [409, 'archiveTooDeep']);
  assert.match(refusal.json.detail, /200 levels/);
  assert.ok(`${nestedPath(200)}/` in (await contents((await sendPath(postern, `${base}/zip/shallow`)).bytes)));
});
