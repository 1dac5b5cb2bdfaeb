import assert from 'node:assert/strict';
import fs from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { reportAlive } from '#features/processes/running-processes.ts';
import { BusyLocations } from '#features/visits/files/busy-locations.ts';
import { FailingLocations } from '#features/visits/files/failing-locations.ts';
import { checkPendingChanges } from '#features/visits/files/pending-limit.ts';
import { recoverInterruptedChanges } from '#features/visits/files/recover-changes.ts';
import { ItemExists, StorageFull, StorageUnavailable } from '#ports/storage-errors.ts';
import { StoreUnavailable } from '#ports/store.ts';
import { inlineThreads } from '../parts/inline-threads.ts';
import { startWithStorages, startWithThreads } from '../parts/intercepted-postern.ts';
import { uploadWithoutRecord } from '../parts/unrecorded-change.ts';
import { until } from '../ports/until.ts';
import { startPostern, type TestPostern, temporaryFolder } from '../start.ts';
import { createShare, jsonPostRequest, sendPath } from './visiting.ts';

test('an upload whose outcome could not be recorded is later recorded as done, and its alert is enqueued', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern, { alertUpload: true, notifyEmails: 'owner@example.com' });
  await uploadWithoutRecord(t, postern, `${base}/file/a.txt`);
  assert.equal(await readFile(join(postern.files, 'a.txt'), 'utf8'), 'kept');

  await recoverInterruptedChanges(postern.ports, new Set());

  const { list } = await postern.call('audit/search', { action: 'upload' });
  assert.deepEqual(
    list.map(({ outcome, path }: { outcome: string; path: string }) => [outcome, path]),
    [['done', '/a.txt']],
  );
  const alerts = await postern.ports.store.read.selectFrom('alert').select('action').execute();
  assert.deepEqual(
    alerts.map(({ action }) => action),
    ['upload'],
  );
  assert.deepEqual(await readdir(join(postern.files, '.postern')), []);
});

test('recovery records a change as done if it took place although the disk reported an error', async (t) => {
  const postern = await startWithStorages(
    t,
    () => {},
    {},
    (method) => {
      if (method === 'storage.rename') throw new StorageUnavailable('EIO after the rename');
    },
  );
  const { files } = postern;
  await writeFile(join(files, 'a.txt'), 'a text');
  const { base } = await createShare(postern);
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ path: 'a.txt', name: 'b.txt' });
  assert.equal((await postern.visit(`${base}/rename`, { method: 'POST', headers, body })).status, 503);

  await recoverInterruptedChanges(postern.ports, new Set());

  const { list } = await postern.call('audit/search', { action: 'rename' });
  assert.deepEqual(
    list.map(({ outcome, after }: { outcome: string; after: string }) => [outcome, after]),
    [['done', '{"name":"b.txt"}']],
  );
});

test('if recovery cannot lock the names of a change, the change stays pending, and the next run recovers it', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  await uploadWithoutRecord(t, postern, `${base}/file/a.txt`);
  const { store } = postern.ports;
  const withoutLocks: typeof store = { ...store, withLocks: () => Promise.reject(new StoreUnavailable('too many connections')) };
  const outcomes = async () =>
    (await postern.call('audit/search', { action: 'upload' })).list.map(({ outcome }: { outcome: string }) => outcome);
  await assert.rejects(recoverInterruptedChanges({ ...postern.ports, store: withoutLocks }, new Set()), StoreUnavailable);
  assert.deepEqual(await outcomes(), ['begun']);
  await recoverInterruptedChanges(postern.ports, new Set());
  assert.deepEqual(await outcomes(), ['done']);
});

for (const [what, error] of [
  ['is full', new StorageFull('the disk is full')],
  ['already has an item with the name', new ItemExists('the name is already taken')],
] as const)
  test(`if the disk ${what} during recovery, Postern starts, other changes are recovered, and a later run retries`, async (t) => {
    const data = await temporaryFolder(t);
    let fails = true;
    const before = async (method: string, [change]: readonly unknown[]) => {
      const isFirst = typeof change === 'object' && change !== null && 'name' in change && change.name === 'a.txt';
      if (fails && method === 'storage.recover' && isFirst) throw error;
    };
    const first = await startWithStorages(t, before, { data });
    const { base } = await createShare(first);
    for (const name of ['a.txt', 'b.txt']) await uploadWithoutRecord(t, first, `${base}/file/${name}`);
    await first.stop();

    const postern = await startWithStorages(t, before, { data });
    const outcomes = async () =>
      (await postern.call('audit/search', { action: 'upload' })).list.map(({ path, outcome }: { path: string; outcome: string }) => [
        path,
        outcome,
      ]);
    const [a, b] = [(outcome: string) => ['/a.txt', outcome], ['/b.txt', 'done']];
    assert.deepEqual((await outcomes()).sort(), [a('begun'), b]);
    const failures = await recoverInterruptedChanges(postern.ports, new Set());
    assert.deepEqual(failures, [{ tid: 1, name: 'local', reason: error.message }]);
    fails = false;
    await recoverInterruptedChanges(postern.ports, new Set());
    assert.deepEqual((await outcomes()).sort(), [a('done'), b]);
  });

test('if the database fails while a file is put in place, the change stays pending, and recovery finds out whether it took place', async (t) => {
  const postern = await startWithStorages(
    t,
    () => undefined,
    {},
    async (method) => {
      if (method === 'upload.place') throw new StoreUnavailable('the database does not respond');
    },
  );
  const { base } = await createShare(postern);
  assert.equal((await sendPath(postern, `${base}/file/a.txt`, { method: 'PUT', body: 'text' })).status, 503);
  const outcomes = async () =>
    (await postern.call('audit/search', { action: 'upload' })).list.map(({ outcome }: { outcome: string }) => outcome);
  assert.deepEqual(await outcomes(), ['begun']);
  await recoverInterruptedChanges(postern.ports, new Set());
  assert.deepEqual(await outcomes(), ['done']);
  assert.equal((await sendPath(postern, `${base}/file/a.txt`)).text, 'text');
});

test('a recovery run skips a change that another run is still recovering', async (t) => {
  const recoverCall = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  let recoverCalls = 0;
  const postern = await startWithStorages(t, (method) => {
    if (method !== 'storage.recover') return undefined;
    recoverCalls += 1;
    recoverCall.resolve();
    return gate.promise;
  });
  const { base } = await createShare(postern);
  await uploadWithoutRecord(t, postern, `${base}/file/a.txt`);
  const runningChanges = new Set<string>();
  const first = recoverInterruptedChanges(postern.ports, runningChanges);
  await recoverCall.promise;
  await recoverInterruptedChanges(postern.ports, runningChanges);
  gate.resolve();
  await first;
  assert.equal(recoverCalls, 1);
  assert.equal((await postern.call('audit/search', { action: 'upload' })).list[0].outcome, 'done');
});

test('after about 100 failed changes at a storage, a link cannot make more changes there until the failed ones are recovered', async (t) => {
  let fails = true;
  let changes = 0;
  const postern = await startWithStorages(t, (method) => {
    if (!fails || (method !== 'storage.createFolder' && method !== 'storage.recover')) return;
    if (method === 'storage.createFolder') changes += 1;
    throw new StorageUnavailable('the change has failed');
  });
  const { base } = await createShare(postern);
  const create = (name: string) => postern.visit(`${base}/folder/${name}`, { method: 'POST' });
  // A change that recovery is trying at this moment does not count, so the limit may be exceeded a little.
  for (let number = 0; number < 120; number += 1) assert.equal((await create(`a${number}`)).body.code, 'storageAway');
  assert.ok(changes >= 100 && changes < 120, `${changes}`);
  assert.equal((await postern.visit(`${base}/file/c`, { method: 'PUT', body: 'c' })).body.code, 'storageAway');
  fails = false;
  const { base: other } = await createShare(postern);
  assert.equal((await postern.visit(`${other}/folder/other`, { method: 'POST' })).status, 201, 'another link is not stopped');
  await recoverInterruptedChanges(postern.ports, new Set());
  assert.equal((await create('b')).status, 201);
});

test('changes that are still being made do not count as failed ones', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  await uploadWithoutRecord(t, postern, `${base}/file/a.txt`);
  const { ports } = postern;
  const row = await ports.store.read.selectFrom('unsettled').selectAll().executeTakeFirstOrThrow();
  const entry = await ports.store.read.selectFrom('audit').selectAll().where('id', '=', row.audit_id).executeTakeFirstOrThrow();
  const copies = Array.from({ length: 200 }, (_, index) => ({ audit_id: row.audit_id + 1000 + index, token: `token-${index}` }));
  await ports.store.write(async (tx) => {
    await tx
      .insertInto('audit')
      .values(copies.map((copy) => ({ ...entry, id: copy.audit_id })))
      .execute();
    await tx
      .insertInto('unsettled')
      .values(copies.map((copy) => ({ ...row, ...copy })))
      .execute();
  }, 'job');
  const running = new Set(copies.map(({ token }) => token));
  const link = { ...row, id: entry.share_id ?? 0 };
  await checkPendingChanges({ ...ports, runningChanges: running }, link);
  await assert.rejects(checkPendingChanges({ ...ports, runningChanges: new Set() }, link), { messageName: 'storageAway' });
});

test('a location that does not respond is recovered by one run at a time', async (t) => {
  const gate = Promise.withResolvers<void>();
  const attemptedNames: string[] = [];
  const postern = await startWithStorages(t, (method, [change]) => {
    if (method !== 'storage.recover') return undefined;
    attemptedNames.push(typeof change === 'object' && change !== null && 'name' in change ? String(change.name) : '');
    return gate.promise;
  });
  const { base } = await createShare(postern);
  for (const name of ['a.txt', 'b.txt']) await uploadWithoutRecord(t, postern, `${base}/file/${name}`);
  const [runningChanges, busyLocations] = [new Set<string>(), new BusyLocations()];
  const first = recoverInterruptedChanges(postern.ports, runningChanges, { busyLocations });
  await until(() => attemptedNames.length > 0);
  await recoverInterruptedChanges(postern.ports, runningChanges, { busyLocations });
  assert.deepEqual(attemptedNames, ['a.txt']);
  gate.resolve();
  await first;
  assert.deepEqual(attemptedNames, ['a.txt', 'b.txt']);
});

test('a deletion that another process has recovered in the meantime is not carried out', async (t) => {
  const removalStart = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const postern = await startWithStorages(t, (method) => {
    if (method !== 'storage.remove') return undefined;
    removalStart.resolve();
    return gate.promise;
  });
  await writeFile(join(postern.files, 'a.txt'), 'old');
  const { base } = await createShare(postern);
  const answer = postern.visit(`${base}/file/a.txt`, { method: 'DELETE' });
  await removalStart.promise;
  // This process was paused so long that another process considered it ended, and a user has saved the file again.
  await postern.ports.store.write((tx) => tx.deleteFrom('process').execute(), 'job');
  await recoverInterruptedChanges({ ...postern.ports, process: 'another' }, new Set());
  await writeFile(join(postern.files, 'a.txt'), 'newer');
  gate.resolve();
  assert.equal((await answer).status, 503);
  assert.equal(await readFile(join(postern.files, 'a.txt'), 'utf8'), 'newer');
  const { list } = await postern.call('audit/search', { action: 'delete' });
  assert.deepEqual(
    list.map(({ outcome }: { outcome: string }) => outcome),
    ['failed'],
  );
});

test('with ownOnly, recovery leaves the changes of other processes pending', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  await uploadWithoutRecord(t, postern, `${base}/file/a.txt`);
  await postern.ports.store.write((tx) => tx.updateTable('unsettled').set({ process: 'another' }).execute(), 'job');
  const outcome = async () => (await postern.call('audit/search', { action: 'upload' })).list[0].outcome;
  await recoverInterruptedChanges(postern.ports, new Set(), { ownOnly: true });
  assert.equal(await outcome(), 'begun');
  await recoverInterruptedChanges(postern.ports, new Set());
  assert.equal(await outcome(), 'done');
});

/** Recovers changes as another process that is running. */
async function recoverByAnother(ports: TestPostern['ports']): Promise<void> {
  const another = { ...ports, process: 'another' };
  await reportAlive(another);
  await recoverInterruptedChanges(another, new Set());
}

test('a change that could not be recovered at the start is recovered later, by another process or, if there is none, by the same one', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  await uploadWithoutRecord(t, postern, `${base}/file/a.txt`);
  const { ports } = postern;
  await ports.store.write((tx) => tx.updateTable('unsettled').set({ process: 'ended' }).execute(), 'job');
  const open = () => Promise.reject(new StorageUnavailable('the server cannot be reached'));
  await recoverInterruptedChanges({ ...ports, storages: { ...ports.storages, open } }, new Set());
  if (ports.store.isShared) await recoverByAnother(ports);
  else await recoverInterruptedChanges(ports, new Set(), { ownOnly: true });
  assert.equal((await postern.call('audit/search', { action: 'upload' })).list[0].outcome, 'done');
});

/** Lets a process try three times to recover its own changes at a location that it cannot reach. @returns the failing locations */
async function failToRecover(ports: TestPostern['ports']): Promise<FailingLocations> {
  let now = 0;
  const failing = new FailingLocations(() => now);
  const open = () => Promise.reject(new StorageUnavailable('the server cannot be reached'));
  for (let attempt = 0; attempt < 3; attempt += 1) {
    now += 60_000;
    await recoverInterruptedChanges({ ...ports, storages: { ...ports.storages, open } }, new Set(), { ownOnly: true, failing });
  }
  return failing;
}

test('if a process cannot reach the location of its change, another process recovers the change, or, if there is none, the same process later', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  await uploadWithoutRecord(t, postern, `${base}/file/a.txt`);
  const { ports } = postern;
  await failToRecover(ports);
  const outcome = async () => (await postern.call('audit/search', { action: 'upload' })).list[0].outcome;
  assert.equal(await outcome(), 'begun');
  if (ports.store.isShared) await recoverByAnother(ports);
  else await recoverInterruptedChanges(ports, new Set(), { ownOnly: true });
  assert.equal(await outcome(), 'done');
});

test('a process that has given up a change does not recover it while other processes are alive', async (t) => {
  const postern = await startPostern(t);
  const { ports } = postern;
  if (!ports.store.isShared) return t.skip('on SQLite there are no other processes');
  const { base } = await createShare(postern);
  await uploadWithoutRecord(t, postern, `${base}/file/a.txt`);
  const failing = await failToRecover(ports);
  await reportAlive({ ...ports, process: 'another' });
  const outcome = async () => (await postern.call('audit/search', { action: 'upload' })).list[0].outcome;
  await recoverInterruptedChanges(ports, new Set(), { ownFailing: failing });
  assert.equal(await outcome(), 'begun');
  await recoverInterruptedChanges({ ...ports, process: 'another' }, new Set());
  assert.equal(await outcome(), 'done');
});

test('without other processes, changes that could not be recovered at the start are recovered later', async (t) => {
  const postern = await startPostern(t);
  if (postern.ports.store.isShared) return t.skip('on PostgreSQL any process recovers the changes of processes that have ended');
  const { base } = await createShare(postern);
  await uploadWithoutRecord(t, postern, `${base}/file/a.txt`);
  await postern.ports.store.write((tx) => tx.updateTable('unsettled').set({ process: 'ended' }).execute(), 'job');
  await until(async () => (await postern.call('audit/search', { action: 'upload' })).list[0].outcome === 'done');
});

test('if a process starts while recovery waits for a location, its running download is not recorded as failed', async (t) => {
  const gate = Promise.withResolvers<void>();
  let isWaiting = false;
  const postern = await startWithStorages(t, (method) => {
    if (method !== 'storage.recover') return undefined;
    isWaiting = true;
    return gate.promise;
  });
  const { ports } = postern;
  if (!ports.store.isShared) return t.skip('on SQLite there are no other processes');
  const { base } = await createShare(postern);
  await postern.visit(`${base}/file/welcome.txt`);
  await uploadWithoutRecord(t, postern, `${base}/file/a.txt`);
  const run = recoverInterruptedChanges(ports, new Set());
  await until(() => isWaiting);
  const outcome = async () => (await postern.call('audit/search', { action: 'download' })).list[0].outcome;
  await until(async () => (await outcome()) === 'done');
  await reportAlive({ ...ports, process: 'another' });
  const begun = { outcome: 'begun', process: 'another' } as const;
  await ports.store.write((tx) => tx.updateTable('audit').set(begun).where('action', '=', 'download').execute(), 'job');
  gate.resolve();
  await run;
  assert.equal(await outcome(), 'begun');
});

test('an interrupted change at a location that no longer exists is recorded as failed', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  await uploadWithoutRecord(t, postern, `${base}/file/a.txt`);
  await postern.ports.store.write((tx) => tx.updateTable('unsettled').set({ location_id: 999 }).execute(), 'job');
  await recoverInterruptedChanges(postern.ports, new Set());
  assert.equal((await postern.call('audit/search', { action: 'upload' })).list[0].outcome, 'failed');
});

test('a new folder that waits for a lock is not created if the share is deleted in the meantime', async (t) => {
  const postern = await startPostern(t);
  const { id, base } = await createShare(postern);
  const { store } = postern.ports;
  const gate = Promise.withResolvers<void>();
  const lock = store.withLocks([`name ${postern.files}/a`], () => gate.promise);
  const creation = postern.visit(`${base}/folder/a`, { method: 'POST' });
  await until(async () => (await store.read.selectFrom('unsettled').select('token').execute()).length === 1);
  await postern.call('share/delete', { id });
  gate.resolve();
  await lock;
  assert.equal((await creation).status, 403);
  assert.ok(!(await readdir(postern.files)).includes('a'));
});

for (const { title, action, path, init } of [
  { title: 'creation of a folder', action: 'createFolder', path: 'folder/new', init: { method: 'POST' } },
  { title: 'rename of a file', action: 'rename', path: 'rename', init: jsonPostRequest({ path: 'a.txt', name: 'new' }) },
  { title: 'rename of a folder', action: 'rename', path: 'rename', init: jsonPostRequest({ path: 'old', name: 'new' }) },
] as const)
  test(`a ${title} that takes place after another process has recovered the change is recorded as done`, async (t) => {
    const postern = await startWithThreads(t, inlineThreads);
    await writeFile(join(postern.files, 'a.txt'), 'a text');
    await mkdir(join(postern.files, 'old'));
    const { base } = await createShare(postern);
    const staging = join(postern.files, '.postern');
    // While this process was paused after writing its mark (marks.ts), another process recovered the change and deleted the mark.
    let hasDeletedMarks = false;
    const deleteMarksBefore = (call: 'mkdirSync' | 'linkSync') => {
      const original = fs[call];
      return t.mock.method(fs, call, (...parameters: unknown[]) => {
        const marks = hasDeletedMarks || !fs.existsSync(staging) ? [] : fs.readdirSync(staging).filter((name) => name.endsWith('-mark'));
        for (const mark of marks) fs.unlinkSync(join(staging, mark));
        hasDeletedMarks ||= marks.length > 0;
        return Reflect.apply(original, fs, parameters);
      });
    };
    for (const call of ['mkdirSync', 'linkSync'] as const) deleteMarksBefore(call);
    const answer = await postern.visit(`${base}/${path}`, init);
    assert.ok(hasDeletedMarks);
    assert.ok(answer.status < 300, `${answer.status}`);
    assert.ok((await readdir(postern.files)).includes('new'));
    const { list } = await postern.call('audit/search', { action });
    assert.deepEqual(
      list.map(({ outcome }: { outcome: string }) => outcome),
      ['done'],
    );
  });

for (const { title, action, path, init } of [
  { title: 'new folder', action: 'createFolder', path: 'folder/new', init: { method: 'POST' } },
  { title: 'rename', action: 'rename', path: 'rename', init: jsonPostRequest({ path: 'a.txt', name: 'new' }) },
  { title: 'new file', action: 'upload', path: 'file/new', init: { method: 'PUT', body: 'x' } },
] as const)
  test(`a ${title} whose process was killed at the end of the change is recorded as done, even if its result is deleted before recovery runs`, async (t) => {
    const postern = await startWithThreads(t, inlineThreads);
    await writeFile(join(postern.files, 'a.txt'), 'a text');
    const { base } = await createShare(postern);
    // The process is killed before it can mark the change as done.
    const kills = (['renameSync', 'symlinkSync'] as const).map((method) => {
      const original = fs[method];
      return t.mock.method(fs, method, (...parameters: unknown[]) => {
        if (String(parameters[1]).endsWith('-done')) throw Object.assign(new Error('killed'), { code: 'EIO' });
        return Reflect.apply(original, fs, parameters);
      });
    });
    assert.equal((await postern.visit(`${base}/${path}`, init)).status, 503);
    for (const kill of kills) kill.mock.restore();
    assert.equal((await postern.visit(`${base}/file/new`, { method: 'DELETE' })).status, 204);
    await recoverInterruptedChanges(postern.ports, new Set());
    for (const name of [action, 'delete']) {
      const { list } = await postern.call('audit/search', { action: name });
      const outcomes = list.map(({ outcome }: { outcome: string }) => outcome);
      assert.deepEqual(outcomes, ['done'], name);
    }
    const names = await readdir(postern.files);
    assert.deepEqual([names.includes('new'), names.includes('a.txt')], [false, action !== 'rename']);
  });
