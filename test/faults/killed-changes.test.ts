import assert from 'node:assert/strict';
import fs from 'node:fs';
import { join } from 'node:path';
import { mock, type TestContext, test } from 'node:test';
import type { ChangeContext, PendingFileChange, Storage } from '#ports/storage.ts';
import { ItemExists, ItemNotFound, StorageUnavailable } from '#ports/storage-errors.ts';
import { inlineThreads } from '../parts/inline-threads.ts';
import { localDisk } from '../ports/local-disk.ts';
import { newToken, parsePath, startUpload } from '../ports/storage.contract.ts';
import { temporaryFolder } from '../start.ts';

const changingCalls = [
  'linkSync',
  'symlinkSync',
  'renameSync',
  'mkdirSync',
  'openSync',
  'writeFileSync',
  'unlinkSync',
  'rmdirSync',
] as const;
const maxCalls = 40;

class Killed extends Error {}

/**
 * Runs a change and simulates a kill: the n-th call that changes the disk fails, and all later ones, even those of the clean-up.
 * @returns whether the change reached the n-th call
 */
async function runKilledAt(number: number, work: () => Promise<unknown>): Promise<boolean> {
  let count = 0;
  const mocks = changingCalls.map((call) => {
    const original = fs[call];
    return mock.method(fs, call, (...args: unknown[]) => {
      count += 1;
      if (count >= number) throw new Killed(call);
      return Reflect.apply(original, fs, args);
    });
  });
  try {
    await work();
  } catch (cause) {
    if (count < number) throw cause;
  } finally {
    for (const each of mocks) each.mock.restore();
  }
  return count >= number;
}

/** Simulates a file system without hard and symbolic links, as on many memory cards, until the test ends. */
function disableLinks(t: TestContext): void {
  const refuse = () => {
    throw Object.assign(new Error('EPERM'), { code: 'EPERM' });
  };
  t.mock.method(fs, 'linkSync', refuse);
  t.mock.method(fs, 'symlinkSync', refuse);
}

interface Change {
  readonly title: string;
  readonly pending: Omit<PendingFileChange, 'token'>;
  readonly prepare: (file: (name: string) => string) => void;
  readonly act: (storage: Storage, context: ChangeContext) => Promise<unknown>;
  /** The entries of the folder afterwards: `done` if the change took place, `undone` if it did not. */
  readonly after: { readonly done: readonly string[]; readonly undone: readonly string[] };
}

const root = parsePath('/');
const uploadFile = async (storage: Storage, { token }: ChangeContext, etag: string | null) => {
  const ifTaken = etag === null ? ('refuse' as const) : { replaces: etag };
  const upload = await storage.upload({ parent: root, name: 'a', size: null, ifTaken }, token);
  try {
    await upload.write(Buffer.from('new'));
    await upload.place();
  } finally {
    await upload.closeForRecovery();
  }
};
const changes: readonly Change[] = [
  {
    title: 'an upload',
    pending: { action: 'upload', parent: root, name: 'a', newName: '' },
    prepare: () => {},
    act: (storage, context) => uploadFile(storage, context, null),
    after: { done: ['a: new'], undone: [] },
  },
  {
    title: 'an upload over another file',
    pending: { action: 'upload', parent: root, name: 'a', newName: '' },
    prepare: (file) => fs.writeFileSync(file('a'), 'old'),
    act: async (storage, context) => uploadFile(storage, context, (await storage.stat(parsePath('/a')))?.etag ?? ''),
    after: { done: ['a: new'], undone: ['a: old'] },
  },
  {
    title: 'a new folder',
    pending: { action: 'createFolder', parent: root, name: 'a', newName: '' },
    prepare: () => {},
    act: (storage, context) => storage.createFolder(root, 'a', context),
    after: { done: ['a/'], undone: [] },
  },
  {
    title: 'the rename of a file',
    pending: { action: 'rename', parent: root, name: 'a', newName: 'b' },
    prepare: (file) => fs.writeFileSync(file('a'), 'old'),
    act: (storage, context) => storage.rename(root, 'a', 'b', context),
    after: { done: ['b: old'], undone: ['a: old'] },
  },
  {
    title: 'the rename of a folder',
    pending: { action: 'rename', parent: root, name: 'a', newName: 'b' },
    prepare: (file) => fs.mkdirSync(file('a')),
    act: (storage, context) => storage.rename(root, 'a', 'b', context),
    after: { done: ['b/'], undone: ['a/'] },
  },
  {
    title: 'the deletion of a file',
    pending: { action: 'delete', parent: root, name: 'a', newName: '' },
    prepare: (file) => fs.writeFileSync(file('a'), 'old'),
    act: (storage, context) => storage.remove(root, 'a', context),
    after: { done: [], undone: ['a: old'] },
  },
];

const entriesOf = (folder: string) =>
  fs
    .readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !['.postern', 'other', 'in'].includes(name))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : `${entry.name}: ${fs.readFileSync(join(folder, entry.name), 'utf8')}`))
    .sort();

/** Kills a change at its n-th call that changes the disk. @returns its folder, context and a new storage; null: it makes fewer calls */
async function killChange(t: TestContext, { prepare, act }: Change, number: number) {
  const folder = await temporaryFolder(t);
  fs.writeFileSync(join(folder, 'other'), ''); // recovery refuses an empty location, because its disk might not be mounted
  prepare((name) => join(folder, name));
  const context = { token: newToken(), pendingTokens: [] };
  const killedStorage = localDisk(t, folder, inlineThreads);
  if (!(await runKilledAt(number, () => act(killedStorage, context)))) return null;
  return { folder, context, storage: localDisk(t, folder, inlineThreads) };
}

/** Yields one folder for each call of a change that changes the disk. In that folder, the change was killed at that call. */
async function* killAtEachCall(t: TestContext, change: Change) {
  for (let number = 1; number < maxCalls; number += 1) {
    const killedChange = await killChange(t, change, number);
    if (!killedChange) return assert.ok(number > 1, 'the change makes no call');
    yield { call: `call ${number}`, ...killedChange };
  }
  assert.fail('the change makes more calls than maxCalls');
}

const evidenceIn = (folder: string) => (fs.existsSync(join(folder, '.postern')) ? fs.readdirSync(join(folder, '.postern')) : []);

/**
 * Checks the entries of a folder after a kill. Without links, an empty file may remain if the kill came just after this file had claimed
 * the new name: nothing shows that it is not the file of somebody else. If such a file remains, adds `call` to `calls`.
 */
function checkEntries(folder: string, expected: readonly string[], call: string, calls: Set<string>): void {
  const entries = entriesOf(folder);
  const claims = entries.filter((entry) => entry.endsWith(': '));
  if (claims.length > 0) calls.add(call);
  assert.deepEqual(
    entries.filter((entry) => !claims.includes(entry)),
    expected,
    call,
  );
}

/** The most calls that can leave a claim. They write its note on a disk without links: a link is tried, then a file is written. */
const maxClaimCalls = (hasLinks: boolean) => (hasLinks ? 0 : 3);

for (const hasLinks of [true, false])
  for (const change of changes) {
    const { title, pending, act, after } = change;
    const where = hasLinks ? '' : ', on a disk without links';
    test(`after a kill, recovery leaves ${title} done or not begun, and reports which${where}`, async (t) => {
      if (!hasLinks) disableLinks(t);
      const claimCalls = new Set<string>();
      for await (const { call, folder, context, storage } of killAtEachCall(t, change)) {
        const tookPlace = (await storage.recover({ ...pending, token: context.token })) !== null;
        checkEntries(folder, tookPlace ? after.done : after.undone, call, claimCalls);
        assert.equal((await storage.recover({ ...pending, token: context.token })) !== null, tookPlace, `${call}: recovered again`);
        await storage.clearEvidence({ ...pending, token: context.token });
        assert.deepEqual(evidenceIn(folder), [], call);
      }
      assert.ok(claimCalls.size <= maxClaimCalls(hasLinks), [...claimCalls].join());
    });

    test(`${title} that is killed and then repeated takes place at most once${where}`, async (t) => {
      if (!hasLinks) disableLinks(t);
      const claimCalls = new Set<string>();
      for await (const { call, folder, context, storage } of killAtEachCall(t, change)) {
        const repetition = { token: newToken(), pendingTokens: [context.token] };
        const tookPlaceAgain = await act(storage, repetition).then(
          () => true,
          () => false,
        );
        const tookPlace = (await storage.recover({ ...pending, token: context.token })) !== null;
        assert.ok(!(tookPlace && tookPlaceAgain), `${call}: both`);
        assert.equal(tookPlaceAgain && (await storage.recover({ ...pending, token: repetition.token })) !== null, tookPlaceAgain);
        checkEntries(folder, tookPlace || tookPlaceAgain ? after.done : after.undone, call, claimCalls);
      }
      assert.ok(claimCalls.size <= maxClaimCalls(hasLinks), [...claimCalls].join());
    });
  }

for (const change of changes)
  test(`recovery reports ${change.title} as done, even if its name now belongs to another item`, async (t) => {
    const folder = await temporaryFolder(t);
    fs.writeFileSync(join(folder, 'other'), '');
    fs.mkdirSync(join(folder, 'in'));
    change.prepare((name) => join(folder, name));
    const storage = localDisk(t, folder, inlineThreads);
    const context = { token: newToken(), pendingTokens: [] };
    await change.act(storage, context);
    const name = change.pending.newName || change.pending.name;
    fs.rmSync(join(folder, name), { force: true, recursive: true });
    const other = { token: newToken(), pendingTokens: [context.token] };
    await storage.createFolder(root, name, other);
    assert.equal(await storage.recover({ ...change.pending, token: context.token }), name);
    assert.equal(await storage.recover({ action: 'createFolder', parent: root, name, newName: '', token: other.token }), name);
  });

test('recovery reports an upload as done, even if its folder was moved afterwards', async (t) => {
  const folder = await temporaryFolder(t);
  fs.mkdirSync(join(folder, 'in'));
  const storage = localDisk(t, folder, inlineThreads);
  const upload = await startUpload(storage, '/in', 'a', { token: 'first' });
  await upload.place();
  await upload.closeForRecovery();
  fs.renameSync(join(folder, 'in'), join(folder, 'elsewhere'));
  const pending = { action: 'upload', parent: parsePath('/in'), name: 'a', newName: '', token: 'first' } as const;
  assert.equal(await storage.recover(pending), 'a');
  await storage.clearEvidence(pending);
  assert.deepEqual(evidenceIn(folder), []);
});

for (const change of changes.filter(({ pending }) => pending.action === 'upload'))
  test(`recovery reports whether ${change.title} was done before a kill, even if its file was renamed afterwards`, async (t) => {
    for await (const { call, folder, context, storage } of killAtEachCall(t, change)) {
      const tookPlace = entriesOf(folder).includes('a: new');
      if (fs.existsSync(join(folder, 'a'))) fs.renameSync(join(folder, 'a'), join(folder, 'b'));
      const recoveredName = await storage.recover({ ...change.pending, token: context.token });
      assert.equal(recoveredName, tookPlace ? 'a' : null, call);
    }
  });

test('after a killed folder creation, recovery gives the folder the mode of its parent', async (t) => {
  const change = changes.find(({ title }) => title === 'a new folder');
  assert.ok(change);
  for await (const { call, folder, context, storage } of killAtEachCall(t, change)) {
    fs.chmodSync(folder, 0o775);
    const name = await storage.recover({ ...change.pending, token: context.token });
    if (name) assert.equal(fs.statSync(join(folder, name)).mode & 0o777, 0o775, call);
  }
});

test('a rename that cannot delete the old name on a full disk fails as unavailable, and recovery completes it', async (t) => {
  const folder = await temporaryFolder(t);
  fs.writeFileSync(join(folder, 'a'), 'old');
  const storage = localDisk(t, folder, inlineThreads);
  const failAsFull = () => {
    throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
  };
  const unlinkMock = t.mock.method(fs, 'unlinkSync', failAsFull);
  await assert.rejects(storage.rename(root, 'a', 'b', { token: 'full', pendingTokens: [] }), StorageUnavailable);
  unlinkMock.mock.restore();
  assert.equal(await storage.recover({ action: 'rename', parent: root, name: 'a', newName: 'b', token: 'full' }), 'b');
  assert.deepEqual(entriesOf(folder), ['b: old']);
});

test('a delayed deletion does not delete a file that was saved under the same name in the meantime', async (t) => {
  const folder = await temporaryFolder(t);
  fs.writeFileSync(join(folder, 'a'), 'old');
  const storage = localDisk(t, folder, inlineThreads);
  const { renameSync } = fs;
  t.mock.method(
    fs,
    'renameSync',
    (from: fs.PathLike, to: fs.PathLike) => {
      fs.unlinkSync(join(folder, 'a'));
      fs.writeFileSync(join(folder, 'a'), 'newer');
      renameSync(from, to);
    },
    { times: 1 },
  );
  await assert.rejects(storage.remove(root, 'a', { token: 'late' }), ItemNotFound);
  await storage.clearEvidence({ action: 'delete', parent: root, name: 'a', newName: '', token: 'late' });
  assert.deepEqual(entriesOf(folder), ['a: newer']);
});

test('recovery of a killed upload deletes no empty file that somebody else has stored under the same name, on a disk without links', async (t) => {
  disableLinks(t);
  const upload = changes.find(({ title }) => title === 'an upload');
  assert.ok(upload);
  for await (const { call, folder, context, storage } of killAtEachCall(t, upload)) {
    if (fs.existsSync(join(folder, 'a'))) continue; // the name is taken by the uploaded file or its claim
    const other = await storage.upload({ parent: root, name: 'a', size: 0, ifTaken: 'refuse' }, newToken());
    await other.place();
    await other.discard();
    assert.equal(await storage.recover({ ...upload.pending, token: context.token }), null, call);
    assert.deepEqual(entriesOf(folder), ['a: '], call);
  }
});

test('recovery in an empty location, whose disk might not be mounted, fails and writes nothing', async (t) => {
  const folder = await temporaryFolder(t);
  const storage = localDisk(t, folder, inlineThreads);
  await assert.rejects(storage.recover({ action: 'delete', parent: root, name: 'a', newName: '', token: 'any' }), StorageUnavailable);
  assert.deepEqual(fs.readdirSync(folder), []);
});

test('a killed rename between two hard links of the same file keeps both names', async (t) => {
  const change: Change = {
    title: '',
    pending: { action: 'rename', parent: root, name: 'a', newName: 'b' },
    prepare: (file) => {
      fs.writeFileSync(file('a'), 'old');
      fs.linkSync(file('a'), file('b'));
    },
    act: (storage, context) => assert.rejects(storage.rename(root, 'a', 'b', context), ItemExists),
    after: { done: [], undone: [] },
  };
  for await (const { call, folder, context, storage } of killAtEachCall(t, change)) {
    assert.equal(await storage.recover({ ...change.pending, token: context.token }), null, call);
    assert.deepEqual(entriesOf(folder), ['a: old', 'b: old'], call);
  }
});

test('after a killed rename, recovery keeps a new file that was saved under the old name', async (t) => {
  const change = changes.find(({ title }) => title === 'the rename of a file');
  assert.ok(change);
  for await (const { call, folder, context, storage } of killAtEachCall(t, change)) {
    fs.writeFileSync(join(folder, 'saved'), 'newer');
    fs.renameSync(join(folder, 'saved'), join(folder, 'a'));
    const name = await storage.recover({ ...change.pending, token: context.token });
    const tookPlace = name !== null;
    await storage.clearEvidence({ ...change.pending, token: context.token });
    assert.deepEqual(entriesOf(folder), tookPlace ? ['a: newer', 'b: old'] : ['a: newer'], call);
  }
});

/**
 * Starts a rename that pauses after it has linked the new name. During the pause, the rename is undone, as recovery in another process
 * would do, and then `work` runs.
 */
async function startPausedRename(t: TestContext, work: (file: (name: string) => string) => void) {
  const folder = await temporaryFolder(t);
  const file = (name: string) => join(folder, name);
  fs.writeFileSync(file('a'), 'old');
  const storage = localDisk(t, folder, inlineThreads);
  const original = fs.renameSync;
  const pause = t.mock.method(fs, 'renameSync', (...args: unknown[]) => {
    pause.mock.restore();
    for (const mark of evidenceIn(folder)) fs.unlinkSync(join(folder, '.postern', mark));
    fs.unlinkSync(file('b'));
    work(file);
    return Reflect.apply(original, fs, args);
  });
  const renaming = storage.rename(root, 'a', 'b', { token: newToken(), pendingTokens: [] });
  return { folder, renaming };
}

test('a rename that was undone during a pause fails if another file has the new name by then', async (t) => {
  const { folder, renaming } = await startPausedRename(t, (file) => fs.writeFileSync(file('b'), 'other'));
  await assert.rejects(renaming, ItemNotFound);
  assert.deepEqual(entriesOf(folder), ['a: old', 'b: other']);
});

test('a rename that was undone during a pause does not count as done if somebody has repeated it and saved a new file under the old name', async (t) => {
  const { folder, renaming } = await startPausedRename(t, (file) => {
    fs.renameSync(file('a'), file('b'));
    fs.writeFileSync(file('a'), 'newer');
  });
  await assert.rejects(renaming, StorageUnavailable);
  assert.deepEqual(entriesOf(folder), ['a: newer', 'b: old']);
});
