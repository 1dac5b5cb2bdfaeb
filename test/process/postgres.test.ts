import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { get, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import pg from 'pg';
import { recoverInterruptedChanges } from '#features/visits/files/recover-changes.ts';
import { atEnd } from '../parts/at-end.ts';
import { type PostgresServer, startPostgres } from '../parts/postgres-server.ts';
import { uploadWithoutRecord } from '../parts/unrecorded-change.ts';
import { until } from '../ports/until.ts';
import { createUsersProfile, newShare, signIn, startPostern, temporaryFolder } from '../start.ts';
import { changeShare, createShare, jsonPostRequest, minute, settableClock } from '../visit/visiting.ts';
import { runPostern, spawnPostern } from './run-postern.ts';

const secret = { POSTERN_SECRET_KEY: 'one-secret-key-for-all' };
let server: PostgresServer;
before(async () => {
  server = await startPostgres();
});
after(() => server[Symbol.asyncDispose]());

let databaseCount = 0;
async function newDatabase(): Promise<Record<string, string>> {
  databaseCount += 1;
  const client = new pg.Client(server.url('postgres'));
  await client.connect();
  await client.query(`CREATE DATABASE p${databaseCount}`);
  await client.end();
  return { POSTERN_DATABASE_URL: server.url(`p${databaseCount}`), ...secret };
}

/** Starts two Postern instances on the same database and files. */
async function startTwo(t: TestContext) {
  const environment = await newDatabase();
  const data = await temporaryFolder(t);
  return [await startPostern(t, { environment, data }), await startPostern(t, { environment, data })] as const;
}

test('while the database is down, requests get 503, and Postern is ready again after the database is back', async (t) => {
  const postern = await startPostern(t, { environment: await newDatabase() });
  const { base } = await createShare(postern, {});
  await server.stop();

  const refusal = await postern.send('share/add', newShare());
  assert.deepEqual([refusal.status, refusal.body.code], [503, 'storeAway']);
  assert.equal((await postern.visit(`${base}/list`)).status, 503);
  assert.equal((await postern.visit('/health/ready')).status, 503);
  assert.equal((await postern.visit('/health/live')).status, 200);

  await server.start();

  assert.equal((await postern.visit('/health/ready')).status, 200);
  assert.equal((await postern.visit(`${base}/list`)).status, 200);
  await postern.call('share/add', newShare());
});

test('while the database accepts no changes, Postern is not ready', async (t) => {
  const environment = await newDatabase();
  const postern = await startPostern(t, { environment });
  const client = new pg.Client(environment.POSTERN_DATABASE_URL);
  await client.connect();
  const setReadOnly = async (value: 'on' | 'off') => {
    await client.query(`ALTER DATABASE ${client.database} SET default_transaction_read_only = ${value}`);
    await client.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
  };
  await setReadOnly('on');
  await until(async () => (await postern.visit('/health/ready')).status === 503);
  await client.query('SET default_transaction_read_only = off');
  await setReadOnly('off');
  await until(async () => (await postern.visit('/health/ready')).status === 200);
  await client.end();
});

test('Postern ends after SIGTERM even if the database hangs', async (t) => {
  const cluster = await startPostgres();
  atEnd(t, () => cluster[Symbol.asyncDispose]());
  const data = await temporaryFolder(t);
  const postern = await runPostern(t, { POSTERN_DATA: data, POSTERN_DATABASE_URL: cluster.url('postgres'), ...secret });
  const resume = cluster.suspend();
  atEnd(t, resume);
  const pendingRequest = postern.send('share/add', newShare()).catch(() => {});
  postern.child.kill('SIGTERM');
  assert.deepEqual(await postern.ended, { code: 0, signal: null });
  await pendingRequest;
});

test('while the database is a standby, changes and sign-ins get 503, and Postern is ready again when the database is the primary', async (t) => {
  const cluster = await startPostgres(['wal_level=replica', 'hot_standby=on']);
  atEnd(t, () => cluster[Symbol.asyncDispose]());
  const postern = await startPostern(t, { environment: { POSTERN_DATABASE_URL: cluster.url('postgres'), ...secret } });
  const profile = await createUsersProfile(postern);
  const { base } = await createShare(postern, { authenticationId: profile.id });
  await cluster.startAsStandby();

  await until(async () => (await postern.visit('/health/ready')).status === 503);
  const refusal = await postern.send('share/add', newShare());
  assert.deepEqual([refusal.status, refusal.body.code], [503, 'storeAway']);
  assert.equal((await postern.visit(`${base}/sign-in`, jsonPostRequest({ username: 'ann', password: profile.password }))).status, 503);

  await cluster.stop();
  await cluster.start();
  await until(async () => (await postern.visit('/health/ready')).status === 200);
  await signIn(postern, base, 'ann');
});

test('changes that are retried with their Idempotency-Key across a database restart are made once each', async (t) => {
  const postern = await startPostern(t, { environment: await newDatabase() });
  const changeCount = 300;
  let [startedChanges, finishedChanges, unavailableCount] = [0, 0, 0];
  const ids = new Set<number>();
  async function client(): Promise<void> {
    while (startedChanges < changeCount) {
      startedChanges += 1;
      const headers = { 'idempotency-key': `change ${startedChanges}` };
      for (let isDone = false; !isDone; ) {
        const { status, body } = await postern.send('share/add', newShare({ title: headers['idempotency-key'] }), { headers });
        isDone = status === 200;
        if (isDone) ids.add(body.id);
        else {
          assert.equal(status, 503, JSON.stringify(body));
          unavailableCount += 1;
        }
      }
      finishedChanges += 1;
    }
  }
  const clients = Array.from({ length: 8 }, client);
  while (finishedChanges < 50) await new Promise(setImmediate);
  await server.stop();
  while (unavailableCount === 0) await new Promise(setImmediate);
  await server.start();
  await Promise.all(clients);

  assert.equal(ids.size, changeCount);
  assert.equal((await postern.call('share/search')).totalCount, changeCount);
});

test('a hundred requests with one Idempotency-Key at two processes create one share', async (t) => {
  const processes = await startTwo(t);
  const headers = { 'idempotency-key': 'the same' };
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, index) => processes[index % 2 === 0 ? 0 : 1].send('share/add', newShare(), { headers })),
  );
  const successes = answers.filter(({ status }) => status === 200);
  assert.ok(successes.length > 0);
  assert.equal(new Set(successes.map(({ body }) => body.id)).size, 1);
  for (const { status, body } of answers) assert.ok(status === 200 || body.code === 'idempotencyRunning', JSON.stringify(body));
  assert.equal((await processes[0].call('share/search')).totalCount, 1);
});

test('a hundred visitor requests with one Idempotency-Key at two processes create one folder', async (t) => {
  const processes = await startTwo(t);
  const { base } = await createShare(processes[0]);
  const change = { method: 'POST', headers: { 'idempotency-key': 'the same' } };
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, index) => processes[index % 2 === 0 ? 0 : 1].visit(`${base}/folder/new`, change)),
  );
  const successes = answers.filter(({ status }) => status === 201);
  assert.equal(successes.filter(({ headers }) => headers.get('idempotency-replayed') === null).length, 1);
  for (const { status, body } of answers) assert.ok(status === 201 || body.code === 'idempotencyRunning', JSON.stringify(body));
});

for (const [operation, over] of Object.entries({ 'share/delete': {}, 'share/update': { title: 'changed' } }))
  test(`two ${operation} requests with one Idempotency-Key at two processes both succeed`, async (t) => {
    const processes = await startTwo(t);
    for (let round = 0; round < 20; round += 1) {
      const { id } = await processes[0].call('share/add', newShare());
      const { etag, ...share } = await processes[0].call('share/get', { id });
      const body = operation === 'share/delete' ? { id } : { ...share, ...over };
      const headers = { 'idempotency-key': `round ${round}`, 'if-match': etag };
      const answers = await Promise.all(processes.map((process) => process.send(operation, body, { headers })));
      for (const { status, body: answer } of answers) assert.equal(status, 200, JSON.stringify(answer));
    }
  });

test('access that one process revokes is refused by another process at the next request', async (t) => {
  const [one, other] = await startTwo(t);
  const profile = await createUsersProfile(one);
  const share = await createShare(one, { authenticationId: profile.id });
  const cookie = await signIn(one, share.base, 'ann');
  assert.equal((await other.visit(`${share.base}/list`, { headers: { cookie } })).status, 200);

  await one.call('accessuser/update', { ...(await one.call('accessuser/search')).list[0], active: false });
  assert.equal((await other.visit(`${share.base}/list`, { headers: { cookie } })).status, 401);

  const second = await createShare(one, {});
  assert.equal((await other.visit(`${second.base}/list`)).status, 200);
  await changeShare(one, second.id, { active: false });
  assert.equal((await other.visit(`${second.base}/list`)).status, 404);
});

test('a running download at one process is aborted when another process deactivates the share', async (t) => {
  const [one, other] = await startTwo(t);
  const file = await open(join(one.files, 'large.bin'), 'w');
  await file.truncate(4 * 2 ** 30); // sparse: it uses no disk space
  await file.close();
  const share = await createShare(one, {});
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${other.publicUrl}${share.base}/file/large.bin`, { agent: false }, resolve).once('error', reject);
  });
  atEnd(t, () => response.destroy());
  const transferError = new Promise<NodeJS.ErrnoException>((resolve) => response.once('error', resolve));
  // Reads slowly, so that the transfer keeps running.
  response.on('data', () => {
    response.pause();
    setTimeout(() => response.resume(), 20);
  });

  await changeShare(one, share.id, { active: false });

  assert.equal((await transferError).code, 'ECONNRESET');
});

test('wrong passwords are counted across processes', async (t) => {
  const processes = await startTwo(t);
  const profile = await createUsersProfile(processes[0]);
  const share = await createShare(processes[0], { authenticationId: profile.id });
  const statuses: number[] = [];
  for (let count = 0; count < 12; count += 1) {
    const postern = processes[count % 2 === 0 ? 0 : 1];
    statuses.push((await postern.visit(`${share.base}/sign-in`, jsonPostRequest({ username: 'ann', password: 'wrong' }))).status);
  }
  assert.ok(statuses.includes(429), String(statuses));
});

test('requests for unknown links are counted across processes, and their network soon gets 429', async (t) => {
  const clock = settableClock();
  clock.advance(minute - (clock.now() % minute)); // at the start of a minute, so that all requests fall into the same minute
  const environment = { ...(await newDatabase()), POSTERN_TRUSTED_PROXIES: '127.0.0.1' };
  const data = await temporaryFolder(t);
  const start = () => startPostern(t, { environment, data, replacements: { ports: { clock } } });
  const [one, other] = [await start(), await start()];
  const { base } = await createShare(one);
  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
  const statusAt = async (path: string, address: string) => (await other.visit(path, from(address))).status;

  for (let number = 0; number < 30; number += 1) {
    await one.visit(`/s/unknownlink${number}/visit`, from('203.0.113.7'));
    await other.visit(`/s/unknownlink${number}/visit`, from('203.0.113.7'));
  }

  await until(async () => (await statusAt(`${base}/visit`, '203.0.113.7')) === 429);
  assert.equal(await statusAt(`${base}/visit`, '203.0.113.8'), 200, 'another network is not limited');
  clock.advance(minute);
  assert.equal(await statusAt(`${base}/visit`, '203.0.113.7'), 200, 'the network is not limited in the next minute');
});

test('a process with another secret key does not start, and the error names POSTERN_SECRET_KEY', async (t) => {
  const environment = await newDatabase();
  await startPostern(t, { environment });
  await assert.rejects(
    startPostern(t, { environment: { ...environment, POSTERN_SECRET_KEY: 'quite-another-secret' } }),
    /POSTERN_SECRET_KEY/,
  );
});

test('a process that starts does not interrupt an upload at another process', async (t) => {
  const environment = await newDatabase();
  const data = await temporaryFolder(t);
  const one = await startPostern(t, { environment, data });
  const share = await createShare(one, {});
  const sending = request(`${one.publicUrl}${share.base}/file/sent.bin`, {
    method: 'PUT',
    agent: false,
    headers: { 'content-length': '2000' },
  });
  await new Promise((resolve) => sending.write('x'.repeat(1000), resolve));
  const pendingChange = () => one.ports.store.read.selectFrom('unsettled').select('audit_id').executeTakeFirst();
  while (!(await pendingChange())) await one.visit(`${share.base}/visit`);

  await startPostern(t, { environment, data });

  sending.end('x'.repeat(1000));
  const [answer] = await once(sending, 'response');
  assert.equal(answer.statusCode, 201);
  answer.resume();
  assert.equal((await one.visit(`${share.base}/file/sent.bin`)).body.length, 2000);
});

test('an upload of a killed process is recorded as failed by another process after one minute', async (t) => {
  const environment = await newDatabase();
  const data = await temporaryFolder(t);
  const killedPostern = await runPostern(t, { POSTERN_DATA: data, ...environment });
  const { viewUrl } = (await killedPostern.send('share/add', newShare())).body;
  const sending = request(`${viewUrl}/file/sent.bin`, { method: 'PUT', agent: false, headers: { 'content-length': '2000' } });
  sending.on('error', () => {});
  sending.write('x'.repeat(1000));
  const otherPostern = await startPostern(t, { environment, data });
  const countPendingChanges = async () => (await otherPostern.ports.store.read.selectFrom('unsettled').select('audit_id').execute()).length;
  while ((await countPendingChanges()) === 0) await otherPostern.visit('/health/ready');
  killedPostern.child.kill('SIGKILL');
  await killedPostern.ended;

  await startPostern(t, { environment, data });
  assert.equal(await countPendingChanges(), 1, 'the process of the upload may still be running');
  // Moves the last report of each process back by more than a minute, so that the killed process counts as ended.
  await otherPostern.ports.store.write(
    (tx) =>
      tx
        .updateTable('process')
        .set((row) => ({ seen_at: row('seen_at', '-', 61_000) }))
        .execute(),
    'job',
  );
  await startPostern(t, { environment, data });

  assert.equal(await countPendingChanges(), 0);
  const { list } = await otherPostern.call('audit/search', { action: 'upload' });
  assert.deepEqual(
    list.map(({ outcome }: { outcome: string }) => outcome),
    ['failed'],
  );
});

test('if the database is down at the end of an upload, the outcome is recorded after the database is back', async (t) => {
  const environment = await newDatabase();
  const clock = settableClock();
  const postern = await startPostern(t, { environment, replacements: { ports: { clock } } });
  const share = await createShare(postern, {});
  const sending = request(`${postern.publicUrl}${share.base}/file/sent.bin`, {
    method: 'PUT',
    agent: false,
    headers: { 'content-length': '2000' },
  });
  await new Promise((resolve) => sending.write('x'.repeat(1000), resolve));
  const countPendingChanges = async () => (await postern.ports.store.read.selectFrom('unsettled').select('audit_id').execute()).length;
  while ((await countPendingChanges()) === 0) await postern.visit(`${share.base}/visit`);
  await server.stop();
  sending.end('x'.repeat(1000));
  const [answer] = await once(sending, 'response');
  assert.equal(answer.statusCode, 503);
  answer.resume();
  await server.start();

  await recoverInterruptedChanges(postern.ports, new Set());

  assert.equal(await countPendingChanges(), 0);
  const { list } = await postern.call('audit/search', { action: 'upload' });
  const outcome = list[0].outcome;
  assert.equal((await postern.visit(`${share.base}/file/sent.bin`)).status, outcome === 'done' ? 200 : 404);
});

test('a process whose clock is far ahead does not treat other processes as ended', async (t) => {
  const environment = await newDatabase();
  const data = await temporaryFolder(t);
  const one = await startPostern(t, { environment, data });
  const clock = settableClock();
  clock.advance(500 * 24 * 60 * minute);
  await startPostern(t, { environment, data, replacements: { ports: { clock } } });
  const runningProcesses = await one.ports.store.read.selectFrom('process').select('name').execute();
  assert.ok(runningProcesses.some(({ name }) => name === one.ports.process));
});

test('if two processes replace a file with the same If-Match, one succeeds and the other gets 412', { timeout: 60_000 }, async (t) => {
  const [one, two] = await startTwo(t);
  const { base } = await createShare(one, {});
  const put = (postern: typeof one, body: string, etag: string) =>
    postern.visit(`${base}/file/a.txt`, { method: 'PUT', body, headers: etag ? { 'if-match': etag } : {} });
  await put(one, 'first', '');
  for (let round = 0; round < 40; round += 1) {
    const etag = (await one.visit(`${base}/file/a.txt`)).headers.get('etag') ?? '';
    const answers = await Promise.all([put(one, `one ${round}`, etag), put(two, `two ${round}`, etag)]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 412], `round ${round}`);
  }
});

test('if one process replaces a file while another deletes or renames it, the result is as if the requests had run one after the other', {
  timeout: 60_000,
}, async (t) => {
  const [one, two] = await startTwo(t);
  const { base } = await createShare(one, {});
  const [oldUrl, newUrl] = [`${base}/file/a.txt`, `${base}/file/b.txt`];
  const put = (body: string, headers: Record<string, string> = {}) => one.visit(oldUrl, { method: 'PUT', body, headers });
  const textOf = async (url: string) => {
    const { status, body } = await one.visit(url);
    return status === 200 ? body : null;
  };
  const rivals = {
    delete: () => two.visit(oldUrl, { method: 'DELETE' }),
    rename: () => two.visit(`${base}/rename`, jsonPostRequest({ path: 'a.txt', name: 'b.txt' })),
  };
  for (const [name, rival] of Object.entries(rivals))
    for (let round = 0; round < 30; round += 1) {
      await put('old');
      const etag = (await one.visit(oldUrl)).headers.get('etag') ?? '';
      const [replacement, other] = await Promise.all([put('new', { 'if-match': etag }), rival()]);
      assert.ok([200, 204].includes(other.status), `${name} ${round}: ${other.status}`);
      assert.ok([201, 412].includes(replacement.status), `${name} ${round}: ${replacement.status}`);
      assert.equal(await textOf(oldUrl), null, `${name} ${round}`);
      if (name === 'rename') assert.equal(await textOf(newUrl), replacement.status === 201 ? 'new' : 'old', `${round}`);
      await one.visit(newUrl, { method: 'DELETE' });
    }
});

test('if two processes recover the same upload, it is recorded as done with one alert', { timeout: 30_000 }, async (t) => {
  const [one, two] = await startTwo(t);
  const { base } = await createShare(one, { alertUpload: true, notifyEmails: 'owner@example.com' });
  for (let round = 0; round < 10; round += 1) {
    await uploadWithoutRecord(t, one, `${base}/file/${round}.txt`);
    await one.ports.store.write((tx) => tx.updateTable('unsettled').set({ process: 'an ended process' }).execute(), 'job');
    await Promise.all([one, two].map(({ ports }) => recoverInterruptedChanges(ports, new Set())));
  }
  const rows = await one.ports.store.read.selectFrom('audit').select('outcome').where('action', '=', 'upload').execute();
  assert.deepEqual(
    rows.map(({ outcome }) => outcome),
    Array(10).fill('done'),
  );
  assert.equal((await one.ports.store.read.selectFrom('alert').select('audit_id').execute()).length, 10);
});

test('if several processes start for the first time together on one data folder, the key in the file first-key works at every process', async (t) => {
  const server = await startPostgres();
  atEnd(t, () => server[Symbol.asyncDispose]());
  const data = await temporaryFolder(t);
  const environment = { POSTERN_DATA: data, POSTERN_DATABASE_URL: server.url('postgres') };
  const processes = await Promise.all([1, 2, 3].map(() => runPostern(t, { ...environment, POSTERN_API_KEY: '' })));
  const key = readFileSync(join(data, 'first-key'), 'utf8').trim();
  for (const postern of processes) assert.equal((await postern.send('share/search', {}, key)).status, 200);
  assert.deepEqual(
    readdirSync(data)
      .filter((name) => /key/.test(name))
      .sort(),
    ['first-key', 'secret-key'],
  );
});

test('Postern does not start on an empty PostgreSQL database if the data folder has a SQLite database', async (t) => {
  const server = await startPostgres();
  atEnd(t, () => server[Symbol.asyncDispose]());
  const data = await temporaryFolder(t);
  writeFileSync(join(data, 'postern.db'), 'an embedded database');
  const environment = { POSTERN_DATA: data, POSTERN_DATABASE_URL: server.url('postgres'), POSTERN_SECRET_KEY: 'one-secret-key-for-all' };
  const postern = spawnPostern(t, environment);
  assert.equal((await postern.ended).code, 69);
  assert.match(postern.output(), /move-store/);
});
