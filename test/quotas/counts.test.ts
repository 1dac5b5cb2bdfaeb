import assert from 'node:assert/strict';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import type { ItemPath } from '#core/item-path.ts';
import { continueCountChange, hasCountChange } from '#features/quotas/count-changes.ts';
import { countDueFolders } from '#features/quotas/count-due-folders.ts';
import { hasDueFolders } from '#features/quotas/due-folders.ts';
import { atEnd } from '../parts/at-end.ts';
import { startWithStorages } from '../parts/intercepted-postern.ts';
import { recordStatements } from '../parts/statements.ts';
import { until } from '../ports/until.ts';
import { tusClient } from '../resumable-uploads/tus.ts';
import { startPostern, type TestPostern } from '../start.ts';
import { createShare, jsonPostRequest } from '../visit/visiting.ts';

const minute = 60_000; // ms
const put = async (postern: TestPostern, base: string, name: string, body: string) =>
  (await postern.visit(`${base}/file/${name}`, { method: 'PUT', body })).status;
const quotaOf = async (postern: TestPostern, base: string) => (await postern.visit(`${base}/visit`)).body.share.quota;
const count = ({ ports }: TestPostern) => countDueFolders(ports, AbortSignal.timeout(minute));

/** Starts a Postern with a folder `/in` that holds a file of 10 bytes. A count can be paused after it has listed `/in`. */
async function startWithHeldCount(t: TestContext) {
  const gate = { isClosed: false, waiting: Promise.withResolvers<void>(), opened: Promise.withResolvers<void>() };
  const isDeep = (path: unknown): path is ItemPath => Array.isArray(path) && path.at(-1) === 'deep';
  const postern = await startWithStorages(t, (method, [path]) => {
    if (!gate.isClosed || method !== 'storage.list' || !isDeep(path)) return undefined;
    gate.waiting.resolve();
    return gate.opened.promise;
  });
  await mkdir(join(postern.files, 'in/deep'), { recursive: true });
  await writeFile(join(postern.files, 'in/first.txt'), '0123456789');
  await count(postern);
  const { store } = postern.ports;
  return {
    postern,
    /** Counts all folders, and runs `change` while the count is paused. */
    async changeDuringCount(change: () => Promise<void>) {
      await store.write((tx) => tx.updateTable('counted_folder').set({ due_at: 0 }).execute(), 'job');
      gate.isClosed = true;
      const counting = count(postern);
      await gate.waiting.promise;
      await change();
      gate.isClosed = false;
      gate.opened.resolve();
      await counting;
    },
    /** Returns the time in ms from the last count of a folder to its next count. */
    async pauseOf(path: string) {
      const row = await store.read.selectFrom('counted_folder').selectAll().where('path', '=', path).executeTakeFirstOrThrow();
      return row.due_at - Number(row.counted_at);
    },
  };
}

test('a file that is uploaded while its folder is counted is part of the count', async (t) => {
  const { postern, changeDuringCount } = await startWithHeldCount(t);
  const { base } = await createShare(postern, { path: '/in', maxBytes: 100 });
  await count(postern);
  await changeDuringCount(async () => assert.equal(await put(postern, base, 'new.txt', '12345'), 201));
  assert.deepEqual(await quotaOf(postern, base), { maxBytes: 100, usedBytes: 15, maxFiles: null, usedFiles: 2 });
});

test('if a folder is deleted while its location is counted, the location is counted again soon', async (t) => {
  const { postern, changeDuringCount, pauseOf } = await startWithHeldCount(t);
  const { base } = await createShare(postern, { path: '/in' });
  await mkdir(join(postern.files, 'in/old'));
  await changeDuringCount(async () => assert.equal((await postern.visit(`${base}/file/old`, { method: 'DELETE' })).status, 204));
  assert.ok((await pauseOf('/')) < 10 * minute);
});

test('if a location gets another folder while it is counted, the count of the former folder is not stored', async (t) => {
  const { postern, changeDuringCount } = await startWithHeldCount(t);
  await mkdir(join(postern.files, 'other'));
  const [location] = (await postern.call('location/search')).list;
  const configuration = JSON.stringify({ folder: join(postern.files, 'other') });
  await changeDuringCount(async () => void (await postern.call('location/update', { id: location.id, configuration })));
  await count(postern);
  const { usedBytes, usedFiles } = await postern.call('location/get', { id: location.id });
  assert.deepEqual([usedBytes, usedFiles], [0, 0]);
});

test('a location whose files take long to count does not delay the count of another tenant', async (t) => {
  const { postern, changeDuringCount } = await startWithHeldCount(t);
  const { store } = postern.ports;
  await changeDuringCount(async () => {
    const { id: tid } = await postern.call('tenant/add', { title: 'Another' });
    const location = await store.read.selectFrom('location').selectAll().executeTakeFirstOrThrow();
    const configuration = postern.ports.vault.seal('location', JSON.stringify({ folder: join(postern.files, 'in') }));
    await store.write(async (tx) => {
      const values = { ...location, id: 99, tid: Number(tid), configuration };
      await tx.insertInto('location').values(values).execute();
      await tx
        .insertInto('counted_folder')
        .values({ tid: Number(tid), location_id: 99, path: '/', counted_at: null, due_at: 0 })
        .execute();
    }, 'job');
    // The tenant is not allowed to use this folder, so its count fails at once, and is due again later.
    const folder = () => store.read.selectFrom('counted_folder').select('due_at').where('location_id', '=', 99).executeTakeFirstOrThrow();
    await until(async () => (await folder()).due_at > 0);
  });
});

test('a location that is unavailable is not counted again and again, even if its last count seems to be in the future', async (t) => {
  const postern = await startPostern(t);
  await count(postern);
  const counted_at = Date.now() + 60 * minute;
  await postern.ports.store.write((tx) => tx.updateTable('counted_folder').set({ counted_at }).execute(), 'job');
  await rename(postern.files, `${postern.files}-away`);
  await count(postern);
  const row = await postern.ports.store.read.selectFrom('counted_folder').select('due_at').executeTakeFirstOrThrow();
  assert.ok(row.due_at > Date.now());
});

test('an upload in parts that has expired while a part arrives keeps its space', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern, { path: '/', maxFiles: 2 }); // one is welcome.txt
  await count(postern);
  await tusClient(postern, base).begin('parts.bin', 20);
  const expire = (holder: string | null) =>
    postern.ports.store.write((tx) => tx.updateTable('resumable_upload').set({ expires_at: 0, holder }).execute(), 'job');
  await expire(postern.ports.process);
  assert.equal(await put(postern, base, 'other.txt', 'x'), 507);
  await expire(null);
  assert.equal(await put(postern, base, 'other.txt', 'x'), 201);
});

test('the unfinished uploads of a deleted share free their space at once', async (t) => {
  const postern = await startPostern(t);
  const [location] = (await postern.call('location/search')).list;
  await count(postern);
  await postern.call('location/update', { id: location.id, maxFiles: 2 });
  const shareToDelete = await createShare(postern, { path: '/' });
  const { base } = await createShare(postern, { path: '/' });
  await tusClient(postern, shareToDelete.base).begin('parts.bin', 20);
  assert.equal(await put(postern, base, 'other.txt', 'x'), 507);
  await postern.call('share/delete', { id: shareToDelete.id });
  assert.equal(await put(postern, base, 'other.txt', 'x'), 201);
});

/** Returns how SQLite runs the statement that matches a pattern. */
function planOf(t: TestContext, postern: TestPostern, statements: ReadonlySet<string>, pattern: RegExp): string {
  const [statement] = [...statements].filter((sql) => pattern.test(sql));
  assert.ok(statement, `${pattern}`);
  const database = new DatabaseSync(join(postern.data, 'postern.db'), { readOnly: true });
  atEnd(t, () => database.close());
  const plan = database.prepare(`EXPLAIN QUERY PLAN ${statement}`).all(...Array.from(statement.matchAll(/\?/g), () => 1));
  return plan.map(({ detail }) => detail).join('\n');
}

test('a count reads no other share and no other folder of its tenant, however many there are', async (t) => {
  const statements = recordStatements(t);
  const postern = await startPostern(t);
  if (postern.ports.store.dialect.name !== 'sqlite') return t.skip('the plan of PostgreSQL depends on its statistics');
  await mkdir(join(postern.files, 'in'));
  await createShare(postern, { path: '/in', maxBytes: 100 });
  assert.equal(await hasDueFolders(postern.ports), true);
  await count(postern);
  assert.equal(await hasDueFolders(postern.ports), false);
  const plan = (pattern: RegExp) => planOf(t, postern, statements, pattern);
  assert.match(plan(/^select "\w+" from "share" .*"max_bytes" is not null/), /SEARCH share USING .*location_id=\? AND path_key=\?/);
  for (const pattern of [
    /^select "counted_folder"."tid" .*"due_at" <= /,
    /^select .*"location".*"counted_folder"."tid" = .*"due_at" <= /,
    /^select "counted_folder"."tid" .*"counted_at" > /,
  ]) {
    assert.match(plan(pattern), /^SEARCH counted_folder USING /);
    assert.doesNotMatch(plan(pattern), /TEMP B-TREE/);
  }
  assert.match(plan(/^select "id" from "tenant" where /), /SEARCH counted_folder .*USING .*tid=\? AND due_at<\?/);
});

test('a visit of a share with a quota reads no expired uploads, except those that are still being received', async (t) => {
  const statements = recordStatements(t);
  const postern = await startPostern(t);
  if (postern.ports.store.dialect.name !== 'sqlite') return t.skip('the plan of PostgreSQL depends on its statistics');
  const { base } = await createShare(postern, { maxFiles: 2 });
  assert.equal((await postern.visit(`${base}/visit`)).status, 200);
  const planOfSum = (condition: string) => planOf(t, postern, statements, new RegExp(`^select .*from "resumable_upload" .*${condition}`));
  assert.match(planOfSum('"holder" is null'), /SEARCH resumable_upload USING .*location_id=\? AND expires_at>\?/);
  assert.match(planOfSum('"holder" is not null'), /SEARCH resumable_upload USING INDEX resumable_upload_claimed/);
});

/** Number of counted folders, and how many of them one transaction changes. */
const [manyFolders, firstBatch] = [1200, 1000];

/** Adds many counted folders below `/in/old`, and one beside it. Each holds a byte, and is due in an hour. */
async function addCountedFolders({ ports: { store } }: TestPostern) {
  const location = await store.read.selectFrom('location').select(['tid', 'id']).executeTakeFirstOrThrow();
  const key = { tid: location.tid, location_id: location.id };
  const [counted_at, due_at] = [Date.now(), Date.now() + 60 * minute];
  const paths = ['/in/old0', ...Array.from({ length: manyFolders }, (_, index) => `/in/old/${index}`)];
  await store.write(async (tx) => {
    await tx
      .insertInto('counted_folder')
      .values(paths.map((path) => ({ ...key, path, counted_at, due_at })))
      .execute();
    const size = { slot: 0, bytes: 1, files: 1, changes: 1 };
    await tx
      .insertInto('used_space')
      .values(paths.map((path) => ({ ...key, path, ...size })))
      .execute();
  }, 'job');
  const isAdded = ({ path }: { readonly path: string }) => path.startsWith('/in/old');
  return {
    countDue: async () =>
      (await store.read.selectFrom('counted_folder').select('path').where('due_at', '=', 0).execute()).filter(isAdded).length,
    countFolders: async () => (await store.read.selectFrom('counted_folder').select('path').execute()).filter(isAdded).length,
    /** Completes the changes that the first transaction has begun, as the job does. */
    changeAll: async () => {
      while (await hasCountChange(store.read, key.tid)) await store.write((tx) => continueCountChange(tx, key.tid), 'job');
    },
    countSizes: async () => (await store.read.selectFrom('used_space').select('path').execute()).filter(isAdded).length,
  };
}

test('after a rename of a folder, all counted folders in it are counted again: one transaction makes 1000 of them due, and a job makes the others due', async (t) => {
  const postern = await startPostern(t);
  await mkdir(join(postern.files, 'in/old'), { recursive: true });
  const { base } = await createShare(postern, { path: '/in' });
  await count(postern);
  const folders = await addCountedFolders(postern);
  assert.equal((await postern.visit(`${base}/rename`, jsonPostRequest({ path: 'old', name: 'new' }))).status, 200);
  assert.equal(await folders.countDue(), firstBatch);
  await folders.changeAll();
  assert.equal(await folders.countDue(), manyFolders);
});

test('if a location gets another folder, the counts of many folders are discarded', async (t) => {
  const postern = await startPostern(t);
  await mkdir(join(postern.files, 'other'));
  const [location] = (await postern.call('location/search')).list;
  const folders = await addCountedFolders(postern);
  await postern.call('location/update', { id: location.id, configuration: JSON.stringify({ folder: join(postern.files, 'other') }) });
  assert.equal(await folders.countSizes(), manyFolders + 1 - firstBatch + 1); // the first transaction also changes the root of the location
  await folders.changeAll();
  assert.deepEqual([await folders.countSizes(), await folders.countDue()], [0, manyFolders + 1]);
});

test('the counts of many folders of a deleted location are deleted', async (t) => {
  const postern = await startPostern(t);
  const [location] = (await postern.call('location/search')).list;
  const folders = await addCountedFolders(postern);
  await postern.call('location/delete', { id: location.id });
  assert.equal(await folders.countFolders(), manyFolders + 1 - firstBatch + 1);
  await count(postern);
  assert.deepEqual([await folders.countSizes(), await folders.countFolders()], [0, 0]);
});

test('the job that deletes the counts of a deleted location is due until all of them are deleted', async (t) => {
  const postern = await startPostern(t);
  const [location] = (await postern.call('location/search')).list;
  const folders = await addCountedFolders(postern);
  await postern.call('location/delete', { id: location.id });
  assert.equal(await hasDueFolders(postern.ports), true);
  await count(postern);
  assert.deepEqual([await hasDueFolders(postern.ports), await folders.countFolders()], [false, 0]);
});
