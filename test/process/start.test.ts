import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readSettings } from '../../src/settings.ts';
import { newShare, temporaryFolder } from '../start.ts';
import { runPostern, spawnPostern } from './run-postern.ts';

const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8);

test('the first start leaves a key that only its owner can read, and prints no secret', async (t) => {
  const data = join(await temporaryFolder(t), 'data');
  const postern = spawnPostern(t, { POSTERN_DATA: data });
  const [, url = ''] = await postern.saying(/Try the interface: +(http:\S+)\/docs/);
  await postern.saying(/Then: .*\n/);
  assert.equal(modeOf(data), '700');
  for (const file of ['first-key', 'secret-key']) {
    assert.equal(modeOf(join(data, file)), '600', file);
    assert.ok(!postern.said().includes(readFileSync(join(data, file), 'utf8').trim()), `${file} is not printed`);
  }
  const key = readFileSync(join(data, 'first-key'), 'utf8').trim();
  assert.equal((await fetch(`${url}/api/v1/share/search`, { headers: { authorization: `Bearer ${key}` } })).status, 200);
});

test('no file of the data folder but the visitors’ own can be read by others, even in a folder made before', async (t) => {
  const data = await temporaryFolder(t);
  const postern = await runPostern(t, { POSTERN_DATA: data });
  assert.ok(postern.publicUrl);
  for (const file of ['secret-key']) assert.equal(modeOf(join(data, file)), '600', file);
});

test('a key file that a crash left empty is never taken for a key', async (t) => {
  const data = await temporaryFolder(t);
  writeFileSync(join(data, 'secret-key'), '', { mode: 0o600 });
  const postern = spawnPostern(t, { POSTERN_DATA: data });
  await Promise.race([postern.saying(/Then: .*\n/), postern.ended]);
  assert.notEqual(readFileSync(join(data, 'secret-key'), 'utf8').trim(), '', 'secrets are not sealed under an empty key');
});

const wrong = {
  PORT: '80800',
  POSTERN_ADMIN_PORT: 'x',
  POSTERN_PUBLIC_URL: 'ftp://example.com/sub',
  POSTERN_DATABASE_URL: 'mysql://name:hidden-word@db/postern',
  POSTERN_API_KEY: 'hidden-word',
  POSTERN_SECRET_KEY: 'hidden-word',
  POSTERN_LOCAL_ROOTS: '1:relative',
  POSTERN_PRIVATE_TARGETS: '10.0.0.0/99',
  POSTERN_TRUSTED_PROXIES: 'proxy',
  POSTERN_SMTP_URL: 'http://name:hidden-word@mail',
  POSTERN_MAX_FILE_SIZE: '1e9',
  POSTERN_AUDIT_DAYS: '-1',
  POSTERN_SENDFILE: 'sendfile',
  POSTERN_SEARCH_MEMORY: 'much',
  POSTERN_API_KEYS: 'unknown',
};

test('wrong settings stop the start, each by name, without their secrets', async (t) => {
  const data = join(await temporaryFolder(t), 'data');
  const postern = spawnPostern(t, { POSTERN_DATA: data, ...wrong });
  assert.equal((await postern.ended).code, 64);
  for (const name of Object.keys(wrong)) assert.match(postern.said(), new RegExp(`${name} `), name);
  assert.doesNotMatch(postern.said(), /hidden-word|\n {4}at /);
  assert.throws(() => readdirSync(data), 'nothing was made');
});

test('a front server that is told where files lie has to be one that is trusted', () => {
  assert.throws(() => readSettings({ POSTERN_SENDFILE: 'x-sendfile' }), /POSTERN_SENDFILE needs POSTERN_TRUSTED_PROXIES/);
});

test('a port that is taken, and data that is no database, are said in a line', async (t) => {
  const first = await runPostern(t, { POSTERN_DATA: await temporaryFolder(t) });
  const second = spawnPostern(t, { PORT: new URL(first.publicUrl).port, POSTERN_DATA: await temporaryFolder(t) });
  assert.equal((await second.ended).code, 69);
  assert.match(second.said(), /does not start.*(in use|EADDRINUSE)/);
  const broken = await temporaryFolder(t);
  writeFileSync(join(broken, 'postern.db'), 'this is no database at all. '.repeat(1000));
  const third = spawnPostern(t, { POSTERN_DATA: broken });
  assert.equal((await third.ended).code, 69);
  assert.match(third.said(), /does not start/);
  assert.doesNotMatch(second.said() + third.said(), /\n {4}at /);
});

test('a second process on the same data is refused by name, and the first goes on', async (t) => {
  const data = await temporaryFolder(t);
  const first = await runPostern(t, { POSTERN_DATA: data });
  const second = spawnPostern(t, { POSTERN_DATA: data });
  assert.equal((await second.ended).code, 69);
  assert.match(second.said(), /another Postern is running on the same POSTERN_DATA/);
  assert.equal((await first.send('share/search')).status, 200);
});

test('a second process waits for one that is ending', async (t) => {
  const data = await temporaryFolder(t);
  const first = await runPostern(t, { POSTERN_DATA: data });
  const second = spawnPostern(t, { POSTERN_DATA: data });
  first.child.kill('SIGTERM');
  assert.equal((await first.ended).code, 0);
  await second.saying(/answers at/);
});

test('POSTERN_API_KEY replaces its forerunner at each start, and without it the key ends', async (t) => {
  const data = await temporaryFolder(t);
  const keys = ['pst_the-first-key-of-all', 'pst_the-second-key-of-all'] as const;
  const first = await runPostern(t, { POSTERN_DATA: data, POSTERN_API_KEY: keys[0] });
  assert.equal((await first.send('share/search', {}, keys[0])).status, 200);
  const made = (await first.send('apikey/add', { name: 'mine', role: 'admin' })).body.key;
  const [environment] = (await first.send('apikey/search', {})).body.list.filter(({ name }: { name: string }) => name === 'environment');
  assert.ok((await first.send('apikey/delete', { id: environment.id })).status >= 400, 'it cannot be deleted');
  first.child.kill('SIGTERM');
  await first.ended;
  const second = await runPostern(t, { POSTERN_DATA: data, POSTERN_API_KEY: keys[1] });
  assert.equal((await second.send('share/search', {}, keys[0])).status, 401);
  assert.equal((await second.send('share/search', {}, keys[1])).status, 200);
  assert.equal((await second.send('share/search', {}, made)).status, 200);
  assert.equal((await second.send('apikey/search')).body.list.filter(({ name }: { name: string }) => name === 'environment').length, 1);
});

test('with POSTERN_ADMIN_PORT links and management answer each at their own port alone', async (t) => {
  const postern = await runPostern(t, { POSTERN_DATA: await temporaryFolder(t), POSTERN_ADMIN_PORT: '0' });
  assert.notEqual(postern.publicUrl, postern.apiUrl);
  const { viewId } = (await postern.send('share/add', newShare())).body;
  const key = { authorization: 'Bearer pst_test-key-of-an-admin' };
  const status = async (url: string) => (await fetch(url, { headers: key, redirect: 'manual' })).status;
  for (const path of ['/api/v1/share/search', '/docs', '/metrics', '/openapi.json', '/api/v1/login'])
    assert.equal(await status(postern.publicUrl + path), 404, `${path} at the links' port`);
  for (const path of ['', '/visit', '/list', '/file/welcome.txt', '/zip']) {
    assert.equal(await status(`${postern.apiUrl}/s/${viewId}${path}`), 404, `${path} at the management's port`);
    assert.equal(await status(`${postern.publicUrl}/s/${viewId}${path}`), 200, path);
  }
  assert.doesNotMatch(await (await fetch(postern.publicUrl)).text(), /docs/);
  for (const url of [postern.publicUrl, postern.apiUrl]) assert.equal(await status(`${url}/health/live`), 200);
});
