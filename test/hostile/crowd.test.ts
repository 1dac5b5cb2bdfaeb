import assert from 'node:assert/strict';
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newShare, startPostern } from '../start.ts';

const hundred = Array.from({ length: 100 }, (_, index) => index);
/** Below the limit of simultaneous uploads of one network. */
const sixty = hundred.slice(0, 60);
const count = (statuses: readonly number[], status: number) => statuses.filter((each) => each === status).length;

test('of a hundred simultaneous updates of one version, exactly one succeeds', async (t) => {
  const postern = await startPostern(t);
  const { id } = await postern.call('share/add', newShare());
  for (let turn = 0; turn < 3; turn += 1) {
    const share = await postern.call('share/get', { id });
    const answers = await Promise.all(
      hundred.map((index) =>
        postern.send('share/update', { ...share, title: `${turn} ${index}` }, { headers: { 'if-match': share.etag } }),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    assert.equal(count(statuses, 200), 1);
    assert.equal(count(statuses, 412), 99);
    assert.equal((await postern.call('share/get', { id })).title, `${turn} ${statuses.indexOf(200)}`);
  }
});

test('of many simultaneous uploads, renames and new folders with one name, exactly one succeeds', async (t) => {
  const postern = await startPostern(t);
  const { viewId } = await postern.call('share/add', newShare());
  for (const index of sixty) writeFileSync(join(postern.files, `from-${index}`), `renamed ${index}`);
  const link = `/s/${viewId}`;
  const answers = await Promise.all(
    sixty.flatMap((index) => [
      postern.visit(`${link}/file/one`, { method: 'PUT', body: `put ${index}` }),
      postern.visit(`${link}/rename`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ path: `from-${index}`, name: 'one' }),
      }),
      postern.visit(`${link}/folder/one`, { method: 'POST' }),
    ]),
  );
  const statuses = answers.map(({ status }) => status);
  assert.equal(statuses.filter((status) => status < 300).length, 1);
  assert.deepEqual([...new Set(statuses.filter((status) => status >= 300))], [409]);
  const names = readdirSync(postern.files, { recursive: true, encoding: 'utf8' });
  assert.deepEqual(
    names.filter((name) => /\.postern(-|\/)/.test(name)),
    [],
  );
});

test('of sixty simultaneous replacements of one file version, exactly one succeeds', async (t) => {
  const postern = await startPostern(t);
  const { viewId } = await postern.call('share/add', newShare());
  const file = `/s/${viewId}/file/welcome.txt`;
  const etag = (await postern.visit(file, { method: 'HEAD' })).headers.get('etag') ?? '';
  const answers = await Promise.all(
    sixty.map((index) => postern.visit(file, { method: 'PUT', body: `new ${index}`, headers: { 'if-match': etag } })),
  );
  const statuses = answers.map(({ status }) => status);
  assert.equal(count(statuses, 201), 1);
  assert.equal(count(statuses, 412), 59);
  assert.equal(readFileSync(join(postern.files, 'welcome.txt'), 'utf8'), `new ${statuses.indexOf(201)}`);
});

test('a hundred simultaneous downloads of one file all succeed and share one audit entry', async (t) => {
  const postern = await startPostern(t);
  const { viewId } = await postern.call('share/add', newShare());
  const welcome = readFileSync(join(postern.files, 'welcome.txt'), 'utf8');
  const answers = await Promise.all(hundred.map(() => postern.visit(`/s/${viewId}/file/welcome.txt`)));
  assert.ok(answers.every(({ status, body }) => status === 200 && body === welcome));
  assert.equal((await postern.call('audit/search', { action: 'download' })).totalCount, 1);
});

test('while a location is unavailable, each request for its files gets 503; afterwards its files can be read again', async (t) => {
  const postern = await startPostern(t);
  const { viewId } = await postern.call('share/add', newShare());
  renameSync(postern.files, `${postern.files}-away`);
  const link = `/s/${viewId}`;
  const json = { 'content-type': 'application/json' };
  const requests: [string, RequestInit][] = [
    ['/list', {}],
    ['/file/welcome.txt', {}],
    ['/view/welcome.txt', {}],
    ['/zip', {}],
    ['/file/new', { method: 'PUT', body: 'x' }],
    ['/folder/new', { method: 'POST' }],
    ['/rename', { method: 'POST', headers: json, body: '{"path":"welcome.txt","name":"x"}' }],
    ['/file/welcome.txt', { method: 'DELETE' }],
  ];
  for (const [path, init] of requests) assert.equal((await postern.visit(link + path, init)).status, 503, path);
  assert.equal((await postern.visit('/health/ready')).status, 200);
  renameSync(`${postern.files}-away`, postern.files);
  for (const [path, init] of requests.slice(0, 4)) assert.equal((await postern.visit(link + path, init)).status, 200, path);
});
