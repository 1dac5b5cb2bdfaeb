import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, type TestContext, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import pg from 'pg';
import { tableNames } from '#features/copies/copied-tables.ts';
import { startMailSink } from '../parts/mail-sink.ts';
import { type PostgresServer, startPostgres } from '../parts/postgres-server.ts';
import { until } from '../ports/until.ts';
import { createUsersProfile, mailSettings, newShare, signIn, startPostern, type TestPostern, temporaryFolder } from '../start.ts';
import { basicAuthorization } from '../visit/visiting.ts';
import { runPostern, spawnPostern } from './run-postern.ts';

const secret = { POSTERN_SECRET_KEY: 'one-secret-key-for-all' };
const project = join(import.meta.dirname, '../..');
let server: PostgresServer;
before(async () => {
  server = await startPostgres();
});
after(() => server[Symbol.asyncDispose]());

let databaseCount = 0;
type Environment = Record<string, string>;
/** For each engine, a function that returns the settings for a new database: empty (PostgreSQL), or not created yet (SQLite). */
const engines: Record<string, (t: TestContext) => Promise<Environment>> = {
  SQLite: async (t) => ({ POSTERN_DATA: await temporaryFolder(t) }),
  async PostgreSQL(t) {
    databaseCount += 1;
    const client = new pg.Client(server.url('postgres'));
    await client.connect();
    await client.query(`CREATE DATABASE c${databaseCount}`);
    await client.end();
    return { POSTERN_DATA: await temporaryFolder(t), POSTERN_DATABASE_URL: server.url(`c${databaseCount}`) };
  },
};

async function maintain(environment: Environment, ...args: string[]): Promise<{ code: number; output: string }> {
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', 'build/server/maintain.js', ...args], {
    cwd: project,
    env: { PATH, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk;
    });
  const [code] = await once(child, 'close');
  return { code, output };
}

/** Starts a Postern with shares, a login profile and a session, and deletes its newest share. */
async function startWithRecords(t: TestContext, environment: Environment) {
  const postern = await startPostern(t, { environment: { ...environment, ...secret }, data: environment['POSTERN_DATA'] ?? '' });
  const profile = await createUsersProfile(postern);
  const over = { authenticationId: profile.id, allowAllUsers: false, userNames: 'ann', groupNames: 'staff' };
  const share = await postern.call('share/add', newShare({ title: 'Größe 😀', ...over }), { headers: { 'idempotency-key': 'the first' } });
  const base = new URL(share.viewUrl).pathname;
  const cookie = await signIn(postern, base, 'ann');
  assert.equal((await postern.visit(`${base}/file/welcome.txt`, { headers: { cookie } })).status, 200);
  const deletedShare = await postern.call('share/add', newShare());
  await postern.call('share/delete', { id: deletedShare.id });
  return { postern, share, base, cookie, deletedShare };
}

/**
 * Checks that a copy has the records and stored idempotent responses of the original, and that no share id is used twice.
 * @param sessionStatus status of the response to a visitor who signed in before the copy was made
 */
async function assertSameRecords(
  copy: TestPostern,
  { share, base, cookie, deletedShare }: Awaited<ReturnType<typeof startWithRecords>>,
  sessionStatus: 200 | 401,
) {
  const record = await copy.call('share/get', { id: share.id });
  assert.deepEqual([record.title, record.userNames, record.groupNames], ['Größe 😀', 'ann', 'staff']);
  assert.equal((await copy.visit(`${base}/list`, { headers: { cookie } })).status, sessionStatus);
  const duplicateBody = newShare({
    title: 'Größe 😀',
    authenticationId: record.authenticationId,
    allowAllUsers: false,
    userNames: 'ann',
    groupNames: 'staff',
  });
  const again = await copy.send('share/add', duplicateBody, { headers: { 'idempotency-key': 'the first' } });
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
  assert.ok((await copy.call('share/add', newShare())).id > deletedShare.id);
  assert.ok((await copy.call('audit/search', { shareId: share.id })).totalCount >= 2);
}

for (const [from, createSource] of Object.entries(engines))
  for (const [to, createTarget] of Object.entries(engines))
    test(`a backup that is made while Postern runs on ${from} is restored completely on ${to}, except sessions, which have ended`, async (t) => {
      const environment = await createSource(t);
      const original = await startWithRecords(t, environment);
      const file = join(await temporaryFolder(t), 'postern.backup');
      let isRunning = true;
      const changes = (async () => {
        while (isRunning) await original.postern.call('share/add', newShare({ title: 'meanwhile' }));
      })();
      const backup = await maintain(environment, 'backup', file);
      isRunning = false;
      await changes;
      assert.deepEqual([backup.code, backup.output.includes('complete')], [0, true], backup.output);

      const target = await createTarget(t);
      const restore = await maintain(target, 'restore', file);
      assert.equal(restore.code, 0, restore.output);
      assert.ok(restore.output.includes(to === 'SQLite' ? `${target['POSTERN_DATA']}` : 'POSTERN_DATABASE_URL'), 'names the database');

      const copy = await startPostern(t, { environment: { ...target, ...secret }, data: target['POSTERN_DATA'] ?? '' });
      await assertSameRecords(copy, { ...original, deletedShare: original.share }, 401);
    });

for (const [to, createTarget] of Object.entries(engines))
  test(`mails and alerts that waited when a backup was made are sent after a restore on ${to} only if an operator retries them`, async (t) => {
    const source = { POSTERN_DATA: await temporaryFolder(t) };
    const postern = await startPostern(t, { environment: { ...source, ...secret, ...mailSettings }, data: source.POSTERN_DATA });
    const share = await postern.call('share/add', newShare({ notifyEmails: 'owner@example.com', alertDownload: true }));
    await postern.call('share/invite', { id: share.id, emails: 'ann@example.com' });
    assert.equal((await postern.visit(`${new URL(share.viewUrl).pathname}/file/welcome.txt`)).status, 200);
    const file = join(await temporaryFolder(t), 'postern.backup');
    assert.equal((await maintain(source, 'backup', file)).code, 0);
    const target = await createTarget(t);
    assert.equal((await maintain(target, 'restore', file)).code, 0);

    const sink = await startMailSink(t);
    const environment = { ...target, ...secret, ...mailSettings, POSTERN_SMTP_URL: sink.url };
    const copy = await startPostern(t, { environment, data: target['POSTERN_DATA'] ?? '' });
    await until(async () => (await copy.call('mail/deliveries', { state: 'held' })).totalCount === 2);
    assert.deepEqual(sink.mails, []);
    assert.equal((await copy.call('mail/retry', { state: 'held' })).mailCount, 2);
    for (const name of ['ann@example.com', 'owner@example.com']) await sink.waitFor(({ to: [recipient] }) => recipient === name);
  });

test('a command on a folder without a database names POSTERN_DATA, and creates nothing', async (t) => {
  const data = join(await temporaryFolder(t), 'data');
  for (const command of [
    ['operator', 'reset', 'Olga'],
    ['backup', join(data, 'postern.backup')],
  ]) {
    const { code, output } = await maintain({ POSTERN_DATA: data }, ...command);
    assert.deepEqual([code, output.includes(`there is no database in ${data}: set POSTERN_DATA`)], [1, true], output);
  }
  assert.equal(existsSync(data), false);
});

test('if two backups write to the same file at once, one is complete and the other is refused', async (t) => {
  const environment = { POSTERN_DATA: await temporaryFolder(t), ...secret };
  const { postern } = await startWithRecords(t, environment);
  const folder = await temporaryFolder(t);
  const file = join(folder, 'postern.backup');
  const backups = await Promise.all([maintain(environment, 'backup', file), maintain(environment, 'backup', file)]);
  assert.deepEqual(backups.map(({ code }) => code).sort(), [0, 1], JSON.stringify(backups));
  assert.match(gunzipSync(readFileSync(file)).toString(), /Größe/);
  assert.deepEqual(readdirSync(folder), ['postern.backup']);
  await postern.stop();
});

test('a SQLite database moves to PostgreSQL only while Postern is stopped, a refused start on PostgreSQL does not prevent the move, and no share id is used twice', async (t) => {
  const source = await engines['SQLite']?.(t);
  const target = await engines['PostgreSQL']?.(t);
  assert.ok(source && target);
  const original = await startWithRecords(t, source);
  const environment = { ...target, ...source };
  const earlyMove = await maintain(environment, 'move-store');
  assert.deepEqual([earlyMove.code, /already uses/.test(earlyMove.output)], [1, true], earlyMove.output);
  await original.postern.stop();
  const refusedStart = spawnPostern(t, { ...environment, ...secret });
  assert.equal((await refusedStart.ended).code, 69);
  assert.match(refusedStart.output(), /move-store/);

  const move = await maintain(environment, 'move-store');
  assert.equal(move.code, 0, move.output);
  const copy = await startPostern(t, { environment: { ...environment, ...secret }, data: source['POSTERN_DATA'] ?? '' });
  await assertSameRecords(copy, original, 200);
});

test('Postern does not start on an incomplete restore, and a second restore completes it', async (t) => {
  const source = await engines['SQLite']?.(t);
  const target = await engines['PostgreSQL']?.(t);
  assert.ok(source && target);
  const original = await startWithRecords(t, source);
  const folder = await temporaryFolder(t);
  const completeFile = join(folder, 'complete');
  assert.equal((await maintain(source, 'backup', completeFile)).code, 0);
  const lines = gunzipSync(readFileSync(completeFile)).toString('utf8').split('\n');
  const incompleteFile = join(folder, 'broken');
  writeFileSync(incompleteFile, gzipSync(lines.slice(0, -6).join('\n')));

  const failedRestore = await maintain(target, 'restore', incompleteFile);
  assert.deepEqual([failedRestore.code, failedRestore.output.includes('incomplete')], [1, true], failedRestore.output);
  const start = () => startPostern(t, { environment: { ...target, ...secret }, data: target['POSTERN_DATA'] ?? '' });
  await assert.rejects(start, /did not finish/);

  assert.equal((await maintain(target, 'restore', completeFile)).code, 0);
  await assertSameRecords(await start(), original, 401);
});

test('a restore is refused while Postern runs, and Postern exits if its database is replaced', async (t) => {
  const source = await engines['SQLite']?.(t);
  const target = await engines['PostgreSQL']?.(t);
  assert.ok(source && target);
  await (await startWithRecords(t, source)).postern.stop();
  const file = join(await temporaryFolder(t), 'postern.backup');
  assert.equal((await maintain(source, 'backup', file)).code, 0);
  const running = await runPostern(t, { ...target, ...secret });
  const client = new pg.Client(target['POSTERN_DATABASE_URL']);
  await client.connect();
  const refusedRestore = await maintain(target, 'restore', file);
  assert.equal(refusedRestore.code, 1, refusedRestore.output);
  await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  const restoreBesidePostern = await maintain(target, 'restore', file);
  assert.match(restoreBesidePostern.output, /stop every Postern that uses it/);
  await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public'); // the running Postern finds an empty database
  assert.deepEqual(await running.ended, { code: 70, signal: null });
  assert.match(running.output(), /not the one that Postern started with/);
  await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  await client.end();
  const restore = await maintain(target, 'restore', file);
  assert.equal(restore.code, 0, restore.output);
});

test('a backup to an existing file, a restore into a used database, and a restore from a file that is not a backup are refused', async (t) => {
  const source = await engines['SQLite']?.(t);
  assert.ok(source);
  await startWithRecords(t, source);
  const folder = await temporaryFolder(t);
  const file = join(folder, 'backup');
  assert.equal((await maintain(source, 'backup', file)).code, 0);
  assert.match((await maintain(source, 'backup', file)).output, /already exists/);
  const usedDatabase = await engines['PostgreSQL']?.(t);
  assert.ok(usedDatabase);
  await startPostern(t, { environment: { ...usedDatabase, ...secret }, data: usedDatabase['POSTERN_DATA'] ?? '' });
  assert.match((await maintain(usedDatabase, 'restore', file)).output, /not empty/);
  writeFileSync(join(folder, 'other'), gzipSync('{"some":"thing"}\n'));
  assert.match(
    (await maintain({ POSTERN_DATA: await temporaryFolder(t) }, 'restore', join(folder, 'other'))).output,
    /not a backup of Postern/,
  );
});

test('a backup of a database that another version has made is refused, and leaves no file', async (t) => {
  const source = await engines['SQLite']?.(t);
  assert.ok(source);
  const postern = await startPostern(t, { environment: { ...source, ...secret }, data: source['POSTERN_DATA'] ?? '' });
  await postern.stop();
  const database = new DatabaseSync(join(source['POSTERN_DATA'] ?? '', 'postern.db'));
  database.exec('DELETE FROM migration WHERE name = (SELECT max(name) FROM migration)');
  database.close();
  const folder = await temporaryFolder(t);
  const { code, output } = await maintain(source, 'backup', join(folder, 'backup'));
  assert.notEqual(code, 0);
  assert.match(output, /another version of Postern has made the database: make the backup with that version/);
  assert.deepEqual(readdirSync(folder), []);
});

test('a restore of a damaged backup fails with a message, not with a stack trace', async (t) => {
  const source = await engines['SQLite']?.(t);
  assert.ok(source);
  await startWithRecords(t, source);
  const folder = await temporaryFolder(t);
  const file = join(folder, 'backup');
  assert.equal((await maintain(source, 'backup', file)).code, 0);
  const complete = readFileSync(file);
  const damagedCopy = Buffer.from(complete);
  damagedCopy.writeUInt8(complete.readUInt8(complete.length >> 1) ^ 0xff, complete.length >> 1);
  const lines = gunzipSync(complete).toString('utf8').split('\n');
  const damages: Record<string, Buffer> = {
    'cut short': complete.subarray(0, complete.length - 100),
    'a flipped byte': damagedCopy,
    'no gzip': Buffer.from('not a backup at all'),
    'a broken line': gzipSync([lines[0], '["share", {', ...lines.slice(2)].join('\n')),
    'without its end': gzipSync(lines.slice(0, -2).join('\n')),
  };
  for (const [damage, bytes] of Object.entries(damages)) {
    writeFileSync(join(folder, 'damaged'), bytes);
    const { code, output } = await maintain({ POSTERN_DATA: await temporaryFolder(t) }, 'restore', join(folder, 'damaged'));
    assert.equal(code, 1, damage);
    assert.match(output, /restore failed: .*backup/, damage);
    assert.doesNotMatch(output, /\n +at |node:/, damage);
  }
});

test('every table is copied, except migrations, processes, the names that processes hold, console invitations, and the counts of shares and users', async (t) => {
  const postern = await startPostern(t);
  const tables = await postern.ports.store.read.introspection.getTables();
  assert.deepEqual(
    tables
      .map(({ name }) => name)
      .filter((name) => !['migration', 'process', 'held_name', 'console_invitation', 'share_count', 'user_count'].includes(name))
      .sort(),
    [...tableNames].sort(),
  );
});

test('after the secret key is lost, forget-secrets lists the secrets to enter again, and shares that need no secret still work', async (t) => {
  const data = await temporaryFolder(t);
  const first = await startPostern(t, { data });
  const { id } = await first.call('loginprofile/add', { title: 'Door', typeId: 2, password: 'a door of its own' });
  const { viewId } = await first.call('share/add', newShare({ authenticationId: id }));
  const openShare = await first.call('share/add', newShare());
  await first.stop();
  rmSync(join(data, 'secret-key'));
  const listing = await maintain({ POSTERN_DATA: data }, 'operator', 'forget-secrets');
  assert.equal(listing.code, 1);
  assert.match(listing.output, /login profile \d+ "Door" \(PASSWORD\): enter its password again[\s\S]*nothing was changed/);
  assert.equal((await maintain({ POSTERN_DATA: data }, 'operator', 'forget-secrets', '--yes')).code, 0);

  const restartedPostern = await startPostern(t, { data });
  assert.equal((await restartedPostern.visit(`/s/${openShare.viewId}/file/welcome.txt`)).status, 200);
  const signInStatus = async (password: string) =>
    (await restartedPostern.visit(`/s/${viewId}/list`, { headers: { authorization: basicAuthorization('x', password) } })).status;
  assert.deepEqual([await signInStatus('a door of its own'), await signInStatus('')], [401, 401]);
  await restartedPostern.call('loginprofile/update', { id, password: 'another door of its own' });
  assert.equal(await signInStatus('another door of its own'), 200);
});

test('forget-secrets changes nothing while a process that knows the old key uses the database', async (t) => {
  const environment = await engines['PostgreSQL']?.(t);
  assert.ok(environment);
  const running = await startPostern(t, { environment: { ...environment, ...secret }, data: environment['POSTERN_DATA'] ?? '' });
  const { id } = await running.call('loginprofile/add', { title: 'Door', typeId: 2, password: 'a door of its own' });
  const forget = () => maintain({ ...environment, POSTERN_SECRET_KEY: 'another-secret-key' }, 'operator', 'forget-secrets', '--yes');
  const refusedRun = await forget();
  assert.equal(refusedRun.code, 1);
  assert.match(refusedRun.output, /nothing was changed: other processes use the database/);
  assert.equal((await running.call('loginprofile/get', { id })).password, '********');
  await running.stop();
  assert.equal((await forget()).code, 0);
});

test('a command sets a new password for an operator who is locked out, and removes their second factors', async (t) => {
  const data = await temporaryFolder(t);
  const first = await startPostern(t, { data });
  const secrets = { password: 'a horse that reads maps', confirmPassword: 'a horse that reads maps' };
  const { id } = await first.call('operator/add', { name: 'Olga', role: 'admin', ...secrets });
  await first.ports.store.write(async (tx) => {
    const values = {
      operator_id: id,
      kind: 'totp',
      title: 'Lost phone',
      secret: 'sealed',
      last_step: 0,
      created_at: 0,
      last_used_at: null,
    } as const;
    await tx.insertInto('second_factor').values(values).execute();
  }, 'job');
  await first.stop();
  const unknownOperator = await maintain({ POSTERN_DATA: data }, 'operator', 'reset', 'Otto');
  assert.deepEqual([unknownOperator.code, /tenant 1 has no operator named "Otto"/.test(unknownOperator.output)], [1, true]);
  const reset = await maintain({ POSTERN_DATA: data }, 'operator', 'reset', 'olga');
  const password = /new password of olga is (\S+)/.exec(reset.output)?.[1];
  assert.equal(reset.code, 0, reset.output);

  const restartedPostern = await startPostern(t, { data });
  const signIn = await restartedPostern.send('operator/signIn', { name: 'Olga', password }, { key: null });
  assert.deepEqual([signIn.status, signIn.body.name], [200, 'Olga']);
  const { list } = await restartedPostern.call('audit/search', { action: 'operator/reset' });
  assert.deepEqual([list[0].actorKind, JSON.parse(list[0].after)], ['system', { id, name: 'Olga' }]);
});
