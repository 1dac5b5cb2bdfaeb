import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { adminKey, newShare, temporaryFolder } from '../start.ts';
import { runPostern, spawnPostern } from './run-postern.ts';

/** Adds a second location, whose stored configuration `damageLocation` can overwrite. */
async function addSecondLocation(postern: Awaited<ReturnType<typeof runPostern>>, data: string): Promise<void> {
  mkdirSync(join(data, 'files', 'damaged'));
  writeFileSync(join(data, 'files', 'damaged', 'welcome.txt'), 'Welcome');
  await postern.send('location/add', {
    name: 'damaged',
    kind: 'local',
    configuration: JSON.stringify({ folder: join(data, 'files', 'damaged') }),
  });
}

/** Changes the database of an installation that does not run. */
function changeDatabase(data: string, statement: string): void {
  const database = new DatabaseSync(join(data, 'postern.db'));
  database.exec(statement);
  database.close();
}

const damageLocation = (data: string) => changeDatabase(data, "UPDATE location SET configuration = 'broken' WHERE name = 'damaged'");

test('a start with another secret key fails and names POSTERN_SECRET_KEY', async (t) => {
  const data = await temporaryFolder(t);
  const first = await runPostern(t, { POSTERN_DATA: data, POSTERN_SECRET_KEY: 'the-first-secret-key' });
  first.child.kill('SIGTERM');
  await first.ended;

  const second = spawnPostern(t, { POSTERN_DATA: data, POSTERN_SECRET_KEY: 'the-other-secret-key' });

  assert.equal((await second.ended).code, 69);
  assert.match(second.output(), /POSTERN_SECRET_KEY/);
});

test('after many failures, no response and no log line contains a secret, a stack trace, SQL or a server path', async (t) => {
  const data = await temporaryFolder(t);
  const first = await runPostern(t, { POSTERN_DATA: data });
  await addSecondLocation(first, data);
  const { viewId } = (await first.send('share/add', newShare({ location: 'damaged' }))).body;
  await first.send('loginprofile/add', { title: 'P', typeId: 2, username: 'u', password: 'hunter-two-hidden' });
  first.child.kill('SIGTERM');
  await first.ended;

  // The path of the share cannot be parsed now, so that every request for files of the link causes an internal error.
  changeDatabase(data, `UPDATE share SET path = '/a/../b' WHERE view_id = '${viewId}'`);
  const postern = await runPostern(t, { POSTERN_DATA: data });
  const responses: string[] = [];
  const request = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(postern.publicUrl + path, init);
    responses.push(await response.text());
    return response.status;
  };
  const link = `/s/${viewId}`;
  assert.equal(await request(`${link}/list`), 500);
  await request(`${link}/file/welcome.txt`);
  await request(`${link}/zip`);
  await request(`${link}/file/new`, { method: 'PUT', body: 'x' });
  await request(`${link}/rename`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"path":"a","name":"b"}' });
  await request(`${link}/folder/x`, { method: 'POST', headers: { 'idempotency-key': 'same' } });
  await request(`${link}/file/welcome.txt`, { method: 'DELETE' });
  for (const name of ['share/add', 'location/test', 'location/browse', 'loginprofile/update', 'share/get', 'accessuser/add'])
    responses.push(JSON.stringify((await postern.send(name, { ...newShare(), id: 1, password: 'hunter-two-hidden' })).body));
  await request('/api/v1/share/search?sortField=%27;DROP%20TABLE', { headers: { authorization: `Bearer ${adminKey}` } });
  await request('/api/v1/share/search', { headers: { authorization: 'Bearer pst_hunter-two-hidden-key' } });
  const socket = connect(Number(new URL(postern.publicUrl).port), '127.0.0.1').on('error', () => {});
  socket.end('GARBAGE hunter-two-hidden\r\n\r\n');
  rmSync(join(data, 'files'), { recursive: true });
  writeFileSync(join(data, 'files'), 'no folder any more');
  await request(`${link}/list`);
  await request('/health/ready');
  postern.child.kill('SIGTERM');
  assert.equal((await postern.ended).code, 0);

  const log = postern.output().slice(postern.output().indexOf('Then:'));
  for (const text of [log, ...responses]) {
    assert.doesNotMatch(text, /\bat (async )?[\w.<>]* ?\(?(file:|\/|node:)/, 'a stack');
    assert.doesNotMatch(text, /SELECT |INSERT |UPDATE |sqlite/i, 'SQL');
    assert.ok(!text.includes(data) && !/node_modules|\/proc\/self/.test(text) && !text.includes(process.cwd()), `a path: ${text}`);
    assert.doesNotMatch(text, /hunter-two-hidden|secret-key|test-key-of-an-admin/, 'a secret');
  }
  assert.match(log, /incident/);
  assert.match(log, /"place":"[^"]*(src|build\/server)\/[^"]*:\d+/, 'the log says where in the code the error occurred');
});

test('readiness stays 200 if the configuration of a location cannot be decrypted', async (t) => {
  const data = await temporaryFolder(t);
  const first = await runPostern(t, { POSTERN_DATA: data });
  await addSecondLocation(first, data);
  first.child.kill('SIGTERM');
  await first.ended;
  damageLocation(data);
  const second = await runPostern(t, { POSTERN_DATA: data });
  const response = await fetch(`${second.publicUrl}/health/ready`);
  assert.equal(response.status, 200);
});
