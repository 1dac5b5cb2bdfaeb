import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { startPostern } from '../start.ts';
import { createShare, jsonPostRequest, noPermissions, sendPath } from './visiting.ts';

const post: RequestInit = { method: 'POST' };
const remove: RequestInit = { method: 'DELETE' };

test('creating a folder with an existing name gets 409', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  assert.equal((await postern.visit(`${base}/folder/new%20%E2%82%AC`, post)).status, 201);
  assert.equal((await postern.visit(`${base}/folder/new%20%E2%82%AC/inner`, post)).status, 201);
  assert.ok(existsSync(join(postern.files, 'new €/inner')));
  for (const name of ['new%20%E2%82%AC', 'welcome.txt']) {
    const answer = await postern.visit(`${base}/folder/${name}`, post);
    assert.equal(answer.status, 409, name);
    assert.equal(answer.body.code, 'itemExists');
  }
  assert.equal((await postern.visit(`${base}/folder/welcome.txt/inner`, post)).status, 404);
});

test('a rename keeps an entry in its folder and never overwrites an existing name', async (t) => {
  const postern = await startPostern(t);
  await mkdir(join(postern.files, 'box/inner'), { recursive: true });
  await writeFile(join(postern.files, 'box/a.txt'), 'a');
  await writeFile(join(postern.files, 'box/b.txt'), 'b');
  const { base } = await createShare(postern);
  const rename = (path: string, name: string) => postern.visit(`${base}/rename`, jsonPostRequest({ path, name }));
  assert.equal((await rename('box/a.txt', 'c.txt')).status, 200);
  assert.equal(await readFile(join(postern.files, 'box/c.txt'), 'utf8'), 'a');
  for (const existingName of ['b.txt', 'inner']) {
    const answer = await rename('box/c.txt', existingName);
    assert.equal(answer.status, 409, existingName);
    assert.equal(answer.body.code, 'itemExists');
  }
  assert.equal((await rename('/box/inner', 'outer')).status, 200);
  assert.equal((await rename('box/c.txt', 'C.txt')).status, 200);
  assert.deepEqual((await readdir(join(postern.files, 'box'))).sort(), ['C.txt', 'b.txt', 'outer']);
  assert.equal(await readFile(join(postern.files, 'box/b.txt'), 'utf8'), 'b');
});

test('a folder creation that fails with 404 or 409, or a rename that fails with 409, creates no audit entry', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  await mkdir(join(postern.files, 'box'));
  for (let time = 0; time < 3; time += 1) {
    assert.equal((await postern.visit(`${base}/folder/box`, post)).status, 409);
    assert.equal((await postern.visit(`${base}/folder/nowhere/box`, post)).status, 404);
    assert.equal((await postern.visit(`${base}/rename`, jsonPostRequest({ path: 'box', name: 'welcome.txt' }))).status, 409);
  }
  for (const action of ['createFolder', 'rename']) assert.equal((await postern.call('audit/search', { action })).totalCount, 0, action);
});

test('one request deletes a file, or a folder with everything in it', async (t) => {
  const postern = await startPostern(t);
  await mkdir(join(postern.files, 'box/deep'), { recursive: true });
  await writeFile(join(postern.files, 'box/deep/a.txt'), 'a');
  const { base } = await createShare(postern);
  const deletion = await postern.visit(`${base}/file/box`, remove);
  assert.equal(deletion.status, 204);
  assert.equal(deletion.body, '');
  assert.equal((await postern.visit(`${base}/file/welcome.txt`, remove)).status, 204);
  assert.equal((await postern.visit(`${base}/file/welcome.txt`, remove)).status, 404);
  assert.deepEqual(
    (await readdir(postern.files)).filter((name) => name !== '.postern'),
    [],
  );
  assert.deepEqual((await postern.visit(`${base}/list`)).body.entries, []);
});

test('the shared folder itself cannot be renamed, deleted or replaced', async (t) => {
  const postern = await startPostern(t);
  await mkdir(join(postern.files, 'box'));
  const { base } = await createShare(postern, { path: '/box' });
  for (const path of ['/file', '/file/']) assert.equal((await postern.visit(base + path, remove)).status, 403, path);
  for (const path of ['', '/']) assert.equal((await postern.visit(`${base}/rename`, jsonPostRequest({ path, name: 'other' }))).status, 403);
  assert.equal((await postern.visit(`${base}/file`, { method: 'PUT', body: 'x' })).status, 403);
  assert.equal((await postern.visit(`${base}/file`, { method: 'PUT', body: 'x', headers: { 'if-match': '*' } })).status, 403);
  assert.ok(existsSync(join(postern.files, 'box')));
  assert.equal((await postern.visit(`${base}/file`, remove)).body.code, 'rootFixed');
});

test('a shared file cannot be renamed or deleted, and is replaced only with If-Match', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern, { path: '/welcome.txt', folder: false });
  const etag = (await postern.visit(`${base}/file`)).headers.get('etag') ?? '';
  assert.equal((await postern.visit(`${base}/file`, remove)).status, 403);
  assert.equal((await postern.visit(`${base}/rename`, jsonPostRequest({ path: '', name: 'other' }))).status, 403);
  assert.ok([403, 409].includes((await postern.visit(`${base}/file`, { method: 'PUT', body: 'x' })).status));
  assert.equal((await postern.visit(`${base}/file`, { method: 'PUT', body: 'x', headers: { 'if-match': '"old"' } })).status, 412);
  const replacement = await postern.visit(`${base}/file`, { method: 'PUT', body: 'new text', headers: { 'if-match': etag } });
  assert.equal(replacement.status, 201);
  assert.equal(replacement.body.name, 'welcome.txt');
  assert.equal((await sendPath(postern, `${base}/file`)).text, 'new text');
});

test('at a share of one file, each path below the file gets 404, and so does the ZIP file', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern, { path: '/welcome.txt', folder: false });
  for (const path of ['/list/a', '/file/a', '/file/welcome.txt', '/view/a', '/zip', '/zip/a'])
    assert.equal((await postern.visit(base + path)).status, 404, path);
  assert.equal((await postern.visit(`${base}/folder/a`, post)).status, 404);
  assert.equal((await postern.visit(`${base}/file/a`, { method: 'PUT', body: 'x' })).status, 404);
  assert.equal((await postern.visit(`${base}/file/a`, remove)).status, 404);
  assert.equal((await postern.visit(`${base}/rename`, jsonPostRequest({ path: 'welcome.txt', name: 'b' }))).status, 404);
});

test('no folder can be created in a share of one file', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern, { path: '/welcome.txt', folder: false });
  assert.equal((await postern.visit(`${base}/folder`, post)).status, 404);
});

test('each permission allows its own actions and no others', async (t) => {
  const allowedBy: Record<string, readonly string[]> = {
    canView: ['list', 'view'],
    canDownload: ['list', 'file'],
    canDownloadFolder: ['zip'],
    canUpload: ['put'],
    canCreateFolder: ['folder'],
    canRename: ['rename'],
    canDelete: ['delete'],
  };
  const postern = await startPostern(t);
  for (const [flag, expected] of Object.entries(allowedBy)) {
    await mkdir(join(postern.files, flag));
    await writeFile(join(postern.files, flag, 'a.txt'), 'a');
    const { base } = await createShare(postern, { ...noPermissions, [flag]: true, path: `/${flag}` });
    const answers: Record<string, number> = {
      list: (await postern.visit(`${base}/list`)).status,
      file: (await postern.visit(`${base}/file/a.txt`)).status,
      view: (await postern.visit(`${base}/view/a.txt`)).status,
      zip: (await postern.visit(`${base}/zip`)).status,
      put: (await postern.visit(`${base}/file/b.txt`, { method: 'PUT', body: 'b' })).status,
      folder: (await postern.visit(`${base}/folder/f`, post)).status,
      rename: (await postern.visit(`${base}/rename`, jsonPostRequest({ path: 'a.txt', name: 'c.txt' }))).status,
      delete: (await postern.visit(`${base}/file/a.txt`, remove)).status,
    };
    const allowedActions = Object.keys(answers).filter((action) => Number(answers[action]) < 300);
    assert.deepEqual(allowedActions, expected, flag);
    assert.ok(
      Object.values(answers).every((status) => status < 300 || status === 403),
      flag,
    );
    const { can } = (await postern.visit(`${base}/visit`)).body.share;
    const permissions = Object.keys(can).filter((key) => can[key]);
    assert.deepEqual(permissions, [`${flag[3]?.toLowerCase()}${flag.slice(4)}`]);
  }
});

test('a method that a path does not support gets 405 with the supported methods', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  for (const [method, path, allowed] of [
    ['POST', '/list', 'GET'],
    ['DELETE', '/zip', 'GET'],
    ['GET', '/rename', 'POST'],
    ['POST', '/file/a', 'PUT'],
    ['GET', '/sign-in', 'POST'],
    ['PUT', '/sign-in/code', 'POST'],
    ['GET', '/password/code', 'POST'],
    ['GET', '/password/reset', 'POST'],
    ['PUT', '/view/a', 'GET'],
  ] as const) {
    const answer = await postern.visit(base + path, { method });
    assert.equal(answer.status, 405, path);
    assert.match(answer.headers.get('allow') ?? '', new RegExp(allowed), path);
  }
});
