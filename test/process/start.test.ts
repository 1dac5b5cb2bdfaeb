import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { DataFolder } from '../../src/data-folder.ts';
import { readSettings } from '../../src/settings/settings.ts';
import { sendRequest, statusOf } from '../hostile/raw-socket.ts';
import { until } from '../ports/until.ts';
import { newShare, startPostern, temporaryFolder } from '../start.ts';
import { runPostern, spawnPostern } from './run-postern.ts';

const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8);

test('the first start writes key files that only their owner can read, and prints neither key', async (t) => {
  const data = join(await temporaryFolder(t), 'data');
  const postern = spawnPostern(t, { POSTERN_DATA: data });
  const [, url = ''] = await postern.waitForOutput(/Try the API: +(http:\S+)\/docs/);
  await postern.waitForOutput(/Then: .*\n/);
  assert.equal(modeOf(data), '700');
  for (const file of ['first-key', 'secret-key']) {
    assert.equal(modeOf(join(data, file)), '600', file);
    assert.ok(!postern.output().includes(readFileSync(join(data, file), 'utf8').trim()), `${file} is not printed`);
  }
  const key = readFileSync(join(data, 'first-key'), 'utf8').trim();
  assert.equal((await fetch(`${url}/api/v1/share/search`, { headers: { authorization: `Bearer ${key}` } })).status, 200);
});

test('the secret key and the files of the database cannot be read by other users, even if the data folder existed before', async (t) => {
  const data = await temporaryFolder(t);
  const postern = await runPostern(t, { POSTERN_DATA: data });
  assert.ok(postern.publicUrl);
  for (const file of ['secret-key', 'postern.db', 'postern.db-wal', 'postern.db-shm', 'lock.db'])
    assert.equal(modeOf(join(data, file)), '600', file);
});

test('an empty key file that a crash left is not used as a key', async (t) => {
  const data = await temporaryFolder(t);
  writeFileSync(join(data, 'secret-key'), '', { mode: 0o600 });
  const postern = spawnPostern(t, { POSTERN_DATA: data });
  await Promise.race([postern.waitForOutput(/Then: .*\n/), postern.ended]);
  assert.notEqual(readFileSync(join(data, 'secret-key'), 'utf8').trim(), '', 'secrets are not sealed with an empty key');
});

/** Returns whether the first key is in the database file itself, and not only in its write-ahead log. */
function holdsFirstKey(database: string, copy: string): boolean {
  copyFileSync(database, copy);
  using copyDatabase = new DatabaseSync(copy);
  try {
    return (
      copyDatabase.prepare('PRAGMA integrity_check').get()?.['integrity_check'] === 'ok' &&
      copyDatabase.prepare('SELECT 1 FROM api_key').get() !== undefined
    );
  } catch {
    return false;
  }
}

test('a new installation that loses its write-ahead log still accepts its first key', async (t) => {
  const data = await temporaryFolder(t);
  const postern = spawnPostern(t, { POSTERN_DATA: data });
  await postern.waitForOutput(/Then: .*\n/);
  const key = readFileSync(join(data, 'first-key'), 'utf8').trim();
  const copy = join(await temporaryFolder(t), 'copy.db');
  await until(() => holdsFirstKey(join(data, 'postern.db'), copy));
  postern.child.kill('SIGKILL');
  await postern.ended;

  rmSync(join(data, 'postern.db-wal'));
  const restarted = spawnPostern(t, { POSTERN_DATA: data });
  const [, url = ''] = await restarted.waitForOutput(/Try the API: +(http:\S+)\/docs/);
  assert.equal((await fetch(`${url}/api/v1/share/search`, { headers: { authorization: `Bearer ${key}` } })).status, 200);
});

test('if the lock file is damaged, the start fails, and the error says to delete the file', async (t) => {
  const data = await temporaryFolder(t);
  writeFileSync(join(data, 'lock.db'), 'x'.repeat(8192));
  const postern = spawnPostern(t, { POSTERN_DATA: data });
  await postern.ended;
  assert.match(postern.output(), /lock\.db is damaged\. Delete it/);
});

const wrongSettings = {
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

test('wrong settings prevent the start, and the error names each of them without secrets', async (t) => {
  const data = join(await temporaryFolder(t), 'data');
  const postern = spawnPostern(t, { POSTERN_DATA: data, ...wrongSettings });
  assert.equal((await postern.ended).code, 64);
  for (const name of Object.keys(wrongSettings)) assert.match(postern.output(), new RegExp(`${name} `), name);
  assert.doesNotMatch(postern.output(), /hidden-word|\n {4}at /);
  assert.throws(() => readdirSync(data), 'the data folder was not created');
});

test('POSTERN_SENDFILE requires POSTERN_TRUSTED_PROXIES', () => {
  assert.throws(() => readSettings({ POSTERN_SENDFILE: 'x-sendfile' }), /POSTERN_SENDFILE needs POSTERN_TRUSTED_PROXIES/);
});

test('a port in use or a damaged database prevents the start, without a stack trace', async (t) => {
  const first = await runPostern(t, { POSTERN_DATA: await temporaryFolder(t) });
  const second = spawnPostern(t, { PORT: new URL(first.publicUrl).port, POSTERN_DATA: await temporaryFolder(t) });
  assert.equal((await second.ended).code, 69);
  assert.match(second.output(), /cannot start.*(in use|EADDRINUSE)/);
  const broken = await temporaryFolder(t);
  writeFileSync(join(broken, 'postern.db'), 'this is no database at all. '.repeat(1000));
  const third = spawnPostern(t, { POSTERN_DATA: broken });
  assert.equal((await third.ended).code, 69);
  assert.match(third.output(), /cannot start/);
  assert.doesNotMatch(second.output() + third.output(), /\n {4}at /);
});

test('a second process on the same data folder does not start, and the first keeps running', async (t) => {
  const data = await temporaryFolder(t);
  const first = await runPostern(t, { POSTERN_DATA: data });
  const second = spawnPostern(t, { POSTERN_DATA: data });
  assert.equal((await second.ended).code, 69);
  assert.match(second.output(), /another Postern process already uses this POSTERN_DATA folder/);
  assert.equal((await first.send('share/search')).status, 200);
});

test('a second process waits until a stopping process has ended', async (t) => {
  const data = await temporaryFolder(t);
  const first = await runPostern(t, { POSTERN_DATA: data });
  const second = spawnPostern(t, { POSTERN_DATA: data });
  first.child.kill('SIGTERM');
  assert.equal((await first.ended).code, 0);
  await second.waitForOutput(/is running/);
});

test('a new POSTERN_API_KEY replaces the previous one at start, and other keys stay valid', async (t) => {
  const data = await temporaryFolder(t);
  const keys = ['pst_the-first-key-of-all', 'pst_the-second-key-of-all'] as const;
  const first = await runPostern(t, { POSTERN_DATA: data, POSTERN_API_KEY: keys[0] });
  assert.equal((await first.send('share/search', {}, keys[0])).status, 200);
  const otherKey = (await first.send('apikey/add', { name: 'mine', role: 'admin' })).body.key;
  const [environment] = (await first.send('apikey/search', {})).body.list.filter(({ name }: { name: string }) => name === 'environment');
  assert.ok((await first.send('apikey/delete', { id: environment.id })).status >= 400, 'the key of the environment cannot be deleted');
  first.child.kill('SIGTERM');
  await first.ended;
  const second = await runPostern(t, { POSTERN_DATA: data, POSTERN_API_KEY: keys[1] });
  assert.equal((await second.send('share/search', {}, keys[0])).status, 401);
  assert.equal((await second.send('share/search', {}, keys[1])).status, 200);
  assert.equal((await second.send('share/search', {}, otherKey)).status, 200);
  assert.equal((await second.send('apikey/search')).body.list.filter(({ name }: { name: string }) => name === 'environment').length, 1);
});

test('POSTERN_API_KEY can have the value of an admin key, and the start fails with an explanation if it has the value of a reader key', async (t) => {
  const first = await startPostern(t);
  const { key: adminKey } = await first.call('apikey/add', { name: 'mine', role: 'admin' });
  const { id, key: readerKey } = await first.call('apikey/add', { name: 'reports', role: 'reader' });
  await first.stop();
  const start = (key: string) => startPostern(t, { data: first.data, environment: { POSTERN_API_KEY: key } });
  await assert.rejects(start(readerKey), new RegExp(`POSTERN_API_KEY has the value of the API key ${id} of tenant 1`));
  const second = await start(adminKey);
  const { list } = await second.call('apikey/search', {}, { key: adminKey });
  assert.deepEqual(list.map(({ name }: { name: string }) => name).sort(), ['mine', 'reports']);
});

test('with POSTERN_ADMIN_PORT, links and management operations are served on separate ports', async (t) => {
  const postern = await runPostern(t, { POSTERN_DATA: await temporaryFolder(t), POSTERN_ADMIN_PORT: '0' });
  assert.notEqual(postern.publicUrl, postern.apiUrl);
  const { viewId } = (await postern.send('share/add', newShare())).body;
  const key = { authorization: 'Bearer pst_test-key-of-an-admin' };
  const status = async (url: string) => (await fetch(url, { headers: key, redirect: 'manual' })).status;
  assert.equal(await status(`${postern.apiUrl}/api/v1/share/add`), 405);
  const response = await sendRequest(postern.apiUrl, 'PUT /none', ['Content-Type: application/json', 'Content-Length: 1000000'], '{"id":');
  assert.equal(statusOf(response), 404, 'the response does not wait for the body');
  for (const path of ['/api/v1/share/search', '/docs', '/metrics', '/openapi.json', '/api/v1/login'])
    assert.equal(await status(postern.publicUrl + path), 404, `${path} at the port for links`);
  for (const path of ['', '/visit', '/list', '/file/welcome.txt', '/zip']) {
    assert.equal(await status(`${postern.apiUrl}/s/${viewId}${path}`), 404, `${path} at the port for management`);
    assert.equal(await status(`${postern.publicUrl}/s/${viewId}${path}`), 200, path);
  }
  assert.doesNotMatch(await (await fetch(postern.publicUrl)).text(), /docs/);
  for (const url of [postern.publicUrl, postern.apiUrl]) assert.equal(await status(`${url}/health/live`), 200);
  const home = await fetch(`${postern.apiUrl}/`, { redirect: 'manual' });
  assert.deepEqual([home.status, home.headers.get('location')], [302, '/console']);
});

test('without POSTERN_ADMIN_PORT, the address for the first account begins with POSTERN_PUBLIC_URL', async (t) => {
  const postern = await startPostern(t, { environment: { POSTERN_PUBLIC_URL: 'https://files.example.com' } });
  assert.match(postern.firstConsoleUrl ?? '', /^https:\/\/files\.example\.com\/console\/first#/);
});

test('POSTERN_LOCAL_ROOTS must not overlap the data folder', async (t) => {
  const data = join(await temporaryFolder(t), 'data');
  for (const root of [data, join(data, '..'), join(data, 'other')]) {
    const postern = spawnPostern(t, { POSTERN_DATA: data, POSTERN_LOCAL_ROOTS: `1:${root}` });
    assert.equal((await postern.ended).code, 64, root);
    assert.match(postern.output(), /POSTERN_LOCAL_ROOTS .* overlaps POSTERN_DATA/);
  }
});

test('a location that is not available is named in the output at start', async (t) => {
  const [data, folder] = [await temporaryFolder(t), await temporaryFolder(t)];
  const environment = { POSTERN_DATA: data, POSTERN_LOCAL_ROOTS: `1:${folder}` };
  const postern = await runPostern(t, environment);
  mkdirSync(join(folder, 'gone'));
  const response = await postern.send('location/add', {
    name: 'papers',
    kind: 'local',
    configuration: JSON.stringify({ folder: join(folder, 'gone') }),
  });
  assert.equal(response.status, 200);
  postern.child.kill();
  await postern.ended;
  rmSync(join(folder, 'gone'), { recursive: true });
  await (await runPostern(t, environment)).waitForOutput(/the location "papers" does not respond/);
});

test('if the database is missing or empty although the file secret-key exists, the start fails and suggests a restore', async (t) => {
  const data = await temporaryFolder(t);
  const postern = await runPostern(t, { POSTERN_DATA: data });
  postern.child.kill();
  await postern.ended;
  for (const [damage, damageDatabase] of [
    ['empty', () => writeFileSync(join(data, 'postern.db'), '')],
    ['missing', () => rmSync(join(data, 'postern.db'))],
  ] as const) {
    for (const rest of ['postern.db-wal', 'postern.db-shm']) rmSync(join(data, rest), { force: true });
    damageDatabase();
    const restarted = spawnPostern(t, { POSTERN_DATA: data });
    assert.equal((await restarted.ended).code, 69, damage);
    assert.match(restarted.output(), new RegExp(`postern.db is ${damage}.*npm run restore`));
  }
});

test('if the secret key is missing although a database exists, the start fails and suggests forget-secrets', async (t) => {
  const data = await temporaryFolder(t);
  const postern = await runPostern(t, { POSTERN_DATA: data });
  postern.child.kill();
  await postern.ended;
  rmSync(join(data, 'secret-key'));
  const restarted = spawnPostern(t, { POSTERN_DATA: data });
  assert.equal((await restarted.ended).code, 69);
  assert.match(restarted.output(), /secret-key is missing.*forget-secrets/);
  assert.ok(!readdirSync(data).includes('secret-key'));
});

test('after a move to PostgreSQL, Postern does not start on the old database', async (t) => {
  const data = await temporaryFolder(t);
  new DataFolder(data).noteMoved();
  const postern = spawnPostern(t, { POSTERN_DATA: data });
  assert.equal((await postern.ended).code, 69);
  assert.match(postern.output(), /moved to PostgreSQL.*POSTERN_DATABASE_URL/);
  rmSync(join(data, 'moved-to-postgresql'));
  await runPostern(t, { POSTERN_DATA: data });
});

test('variables of Kubernetes Services named postern or postern-admin are ignored, and other unknown variables are errors', () => {
  const services = {
    POSTERN_SERVICE_HOST: '10.0.0.1',
    POSTERN_SERVICE_PORT: '8080',
    POSTERN_SERVICE_PORT_HTTP: '8080',
    POSTERN_PORT: 'tcp://10.0.0.1:8080',
    POSTERN_PORT_8080_TCP: 'tcp://10.0.0.1:8080',
    POSTERN_PORT_8080_TCP_PROTO: 'tcp',
    POSTERN_PORT_8080_TCP_PORT: '8080',
    POSTERN_PORT_8080_TCP_ADDR: '10.0.0.1',
    POSTERN_ADMIN_PORT: 'tcp://10.0.0.1:9090',
    POSTERN_ADMIN_SERVICE_HOST: '10.0.0.2',
  };
  assert.equal(readSettings(services).admin, null);
  assert.equal(readSettings({ ...services, POSTERN_ADMIN_PORT: '9090' }).admin?.port, 9090);
  for (const name of ['POSTERN_PORTS', 'POSTERN_SERVICE', 'POSTERN_HOST', 'POSTERN_ADMN_PORT', 'POSTERN_ADMIN_SERVICE_PORTS'])
    assert.throws(() => readSettings({ [name]: '9090' }), new RegExp(`${name} is not a setting`));
});

test('if the data folder is not writable, the start fails, and the error names the folder', async (t) => {
  const file = join(await temporaryFolder(t), 'file');
  writeFileSync(file, '');
  for (const data of [file, '/proc/postern']) {
    const postern = spawnPostern(t, { POSTERN_DATA: data });
    assert.equal((await postern.ended).code, 69, data);
    assert.match(postern.output(), new RegExp(`POSTERN_DATA \\(${data}\\) is not writable`));
  }
});
