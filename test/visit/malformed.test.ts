import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { newShare, startPostern } from '../start.ts';
import { createShare, jsonPostRequest, sendPath } from './visiting.ts';

const malformedPaths = [
  '..',
  '.',
  '%2e%2e',
  '%2E%2e',
  '.%2e',
  '..%2fetc',
  'a%2fb',
  'a%2Fb',
  '..%5cetc',
  'a%5Cb',
  'a\\b',
  'a%00b',
  '%00',
  'a%0ab',
  'a%1fb',
  'a%7fb',
  '%c0%ae%c0%ae',
  '%e0%80%ae',
  '%ff',
  '%ed%a0%80',
  '%',
  '%zz',
  'a//b',
  '.postern',
  '.POSTERN',
  '.%50ostern',
  'a/.Postern/b',
  '.postern-upload',
  '.POSTERN-x',
];

test('a malformed path gets 400 before the link is looked up', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  for (const at of [base, '/s/neverexistedatall'])
    for (const path of malformedPaths)
      for (const [method, route] of [
        ['GET', 'list'],
        ['GET', 'file'],
        ['HEAD', 'file'],
        ['GET', 'view'],
        ['GET', 'zip'],
        ['PUT', 'file'],
        ['DELETE', 'file'],
        ['POST', 'folder'],
      ] as const) {
        const answer = await sendPath(postern, `${at}/${route}/${path}`, { method });
        assert.equal(answer.status, 400, `${method} ${route}/${path}`);
      }
});

test('a path is decoded only once, so that a doubly encoded path is an ordinary name', async (t) => {
  const postern = await startPostern(t);
  await mkdir(join(postern.files, '%2e%2e'));
  await writeFile(join(postern.files, '%2e%2e/100%.txt'), 'percent');
  const { base } = await createShare(postern);

  const answer = await sendPath(postern, `${base}/file/%252e%252e/100%25.txt`);
  assert.equal(answer.status, 200);
  assert.equal(answer.text, 'percent');
  for (const path of ['%252e%252e/welcome.txt', '%2500', 'a%252fb', 'a%255cb'])
    assert.equal((await sendPath(postern, `${base}/file/${path}`)).status, 404, path);
});

test('a file whose name has special characters is available at the URL-encoded name', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  for (const name of [
    'a+b.txt',
    'what?.txt',
    'a#1.txt',
    '"q".txt',
    'two words.txt',
    '€ ünï.txt',
    '🗂.txt',
    'a&b=c;d.txt',
    "o'clock.txt",
    ' lead',
    '~x',
    '...',
    '..a',
  ]) {
    await writeFile(join(postern.files, name), name);
    const answer = await sendPath(postern, `${base}/file/${encodeURIComponent(name)}`);
    assert.equal(answer.status, 200, name);
    assert.equal(answer.text, name);
  }
});

test('paths and names in a request body are not URL-decoded, and invalid segments get 400', async (t) => {
  const postern = await startPostern(t);
  await writeFile(join(postern.files, 'a%2e.txt'), 'a');
  const { base } = await createShare(postern);
  const invalidNames = ['..', '.', 'a\\b', 'a\u0000b', 'a\nb', '.postern', '.Postern-x', '../welcome.txt'];
  for (const at of [base, '/s/neverexistedatall'])
    for (const name of [...invalidNames, 'a/b', '']) {
      assert.equal((await postern.visit(`${at}/rename`, jsonPostRequest({ path: 'welcome.txt', name }))).status, 400, JSON.stringify(name));
    }
  for (const path of [...invalidNames, 'a//b', 'a/../welcome.txt']) {
    assert.equal((await postern.visit(`${base}/rename`, jsonPostRequest({ path, name: 'ok.txt' }))).status, 400, JSON.stringify(path));
  }
  const plain = await postern.visit(`${base}/rename`, jsonPostRequest({ path: 'a%2e.txt', name: 'b%2e.txt' }));
  assert.equal(plain.status, 200);
  assert.equal((await sendPath(postern, `${base}/file/b%252e.txt`)).status, 200);
});

test('a path of 255 levels is accepted, and a deeper path gets 400 with the limit in the detail', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  const [deepest, deeper] = [255, 256].map((levels) => Array.from({ length: levels }, () => '~').join('/'));
  await mkdir(join(postern.files, deepest ?? ''), { recursive: true });
  assert.equal((await postern.visit(`${base}/list/${deepest}`)).status, 200);
  for (const at of [base, '/s/neverexistedatall'])
    for (const [method, route] of [
      ['GET', 'list'],
      ['GET', 'file'],
      ['PUT', 'file'],
      ['POST', 'folder'],
      ['GET', 'zip'],
    ] as const) {
      const { status, body } = await postern.visit(`${at}/${route}/${deeper}`, { method, ...(method === 'PUT' ? { body: 'x' } : {}) });
      assert.equal(status, 400, `${method} ${route}`);
      assert.match(body.detail, /at most 255 levels/);
    }
  const renameAnswer = await postern.visit(`${base}/rename`, jsonPostRequest({ path: deeper, name: 'b' }));
  const shareAnswer = await postern.send('share/add', newShare({ path: `/${deeper}` }));
  const browseAnswer = await postern.send('location/browse', { location: 'local', path: deeper });
  for (const { status, body } of [renameAnswer, shareAnswer, browseAnswer]) {
    assert.equal(status, 400);
    assert.match(body.detail, /at most 255 names/);
  }
});

test('a share 200 levels deep gives access to 200 more levels below it', async (t) => {
  const postern = await startPostern(t);
  const levels = Array.from({ length: 200 }, () => 'a').join('/');
  await mkdir(join(postern.files, levels, levels), { recursive: true });
  await writeFile(join(postern.files, levels, levels, 'b.txt'), 'b');
  const { base } = await createShare(postern, { path: `/${levels}` });
  assert.equal((await sendPath(postern, `${base}/file/${levels}/b.txt`)).bytes.toString(), 'b');
  assert.equal((await postern.visit(`${base}/rename`, jsonPostRequest({ path: `${levels}/b.txt`, name: 'c.txt' }))).status, 200);
  assert.equal((await postern.visit(`${base}/file/${levels}/c.txt`, { method: 'DELETE' })).status, 204);
});

test('a malformed request body gets 400 before the link is looked up', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  for (const at of [base, '/s/neverexistedatall']) {
    for (const body of [
      {},
      { path: 'a' },
      { name: 'b' },
      { path: 1, name: 'b' },
      { path: 'a', name: 'b', more: 1 },
      { path: 'a', name: null },
    ])
      assert.equal((await postern.visit(`${at}/rename`, jsonPostRequest(body))).status, 400, JSON.stringify(body));
    for (const body of [
      {},
      { username: 'ann' },
      { username: 1, password: 'x' },
      { username: 'a', password: 'x', more: 1 },
      { username: 'a', password: 1 },
    ])
      assert.equal((await postern.visit(`${at}/sign-in`, jsonPostRequest(body))).status, 400, JSON.stringify(body));
    const json = { method: 'POST', headers: { 'content-type': 'application/json' } };
    for (const route of ['rename', 'sign-in'])
      assert.equal((await postern.visit(`${at}/${route}`, { ...json, body: '{"path":' })).status, 400, route);
  }
});

test('an unknown field is named in the field errors of the response', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  const answer = await postern.visit(`${base}/rename`, jsonPostRequest({ path: 'welcome.txt', name: 'b.txt', nmae: 'c' }));
  assert.equal(answer.status, 400);
  assert.deepEqual(
    answer.body.errors.map((fieldError: { field: string }) => fieldError.field),
    ['nmae'],
  );
});

test('the routes of a link, except its HTML page, refuse unknown query parameters, and the listing refuses repeated ones', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  const requests: [string, RequestInit][] = [
    ['/visit?x=1', {}],
    ['/list?x=1', {}],
    ['/list?pagesize=1', {}],
    ['/list?pageSize=1&pageSize=2', {}],
    ['/list?name=a', {}],
    ['/file/welcome.txt?x=1', {}],
    ['/file/welcome.txt?name=a', {}],
    ['/view/welcome.txt?x=1', {}],
    ['/zip?x=1', {}],
    ['/file/new.txt?x=1', { method: 'PUT', body: 'x' }],
    ['/file/welcome.txt?x=1', { method: 'DELETE' }],
    ['/folder/new?x=1', { method: 'POST' }],
    ['/rename?x=1', jsonPostRequest({ path: 'welcome.txt', name: 'b.txt' })],
    ['/sign-out?x=1', { method: 'POST' }],
    ['/sign-in?x=1', jsonPostRequest({ username: 'ann', password: 'x' })],
  ];
  for (const [path, init] of requests) assert.equal((await postern.visit(base + path, init)).status, 400, path);
  const answer = await postern.visit(`${base}/list?pagesize=1`);
  assert.match(JSON.stringify(answer.body), /pagesize/);
  assert.match(JSON.stringify(answer.body), /pageSize/);
  assert.equal((await postern.visit(`${base}?utm_source=mail&utm_source=again`)).status, 200);
  assert.equal((await postern.visit(`${base}/zip?name=welcome.txt&name=welcome.txt`)).status, 200);
});
