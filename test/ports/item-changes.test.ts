import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChangeEvidence } from '#adapters/storage/moves/change-evidence.ts';
import { ItemChanges } from '#adapters/storage/moves/item-changes.ts';
import { ItemMoves } from '#adapters/storage/moves/item-moves.ts';
import { parseStoredPath, rootPath } from '#core/item-path.ts';
import { OutcomeUnknown } from '#ports/storage-errors.ts';
import { FakeItemServer, keyOf } from '../parts/fake-item-server.ts';

function startChanges(now = Date.now) {
  const server = new FakeItemServer();
  const evidence = new ChangeEvidence(server, now);
  const moves = new ItemMoves(evidence);
  return { server, evidence, moves, changes: new ItemChanges(evidence, moves) };
}

test('a removal request that reaches the server after its repetition does not remove a new file with the same name', async () => {
  const { server, evidence, changes } = startChanges();
  server.items.set('a.txt', 'old');
  server.lateMoves = 1;
  await changes.remove([], 'a.txt', { token: 'one', confirm: async () => {} });
  await evidence.clear('one');
  server.items.set('a.txt', 'new');
  for (const arrive of server.late) arrive();
  assert.equal(server.items.get('a.txt'), 'new');
});

test('a change whose marker was created, but not written, has not begun', async () => {
  const { server, changes } = startChanges();
  server.items.set('a.txt', 'text');
  server.items.set('.postern/one-begun.txt', '');
  for (const action of ['rename', 'delete'] as const)
    assert.equal(await changes.recover({ action, parent: rootPath, name: 'a.txt', newName: 'b.txt', token: 'one' }), null, action);
  assert.equal(server.items.get('a.txt'), 'text');
});

test('a removal whose request was sent once leaves nothing but the staging folder', async () => {
  const { server, evidence, changes } = startChanges();
  server.items.set('a.txt', 'old');
  await changes.remove([], 'a.txt', { token: 'one', confirm: async () => {} });
  await evidence.clear('one');
  assert.deepEqual([...server.items.keys()], ['.postern']);
});

const longAfter = 1_200_000; // ms. After this time, no server still works on an earlier request

/** Returns changes at a fake server, with a clock that a test can set ahead. */
function startLater() {
  let now = Date.now();
  const advance = () => {
    now += longAfter;
  };
  return { ...startChanges(() => now), now: () => now, advance };
}

/**
 * Begins to replace a file, but the move requests do not reach the server yet.
 * @returns a function that recovers the change a long time afterwards
 */
async function startLateReplacement(setUp: ReturnType<typeof startLater>, path: readonly string[], content: string) {
  const { server, evidence, moves, changes, advance } = setUp;
  server.items.set(keyOf(path), 'old');
  const replaced = await server.find(path);
  assert.ok(replaced);
  server.items.set('.postern', null);
  const from = evidence.stagedPath('one');
  server.items.set(keyOf(from), content);
  server.lateMoves = 2;
  const entry = { ...replaced, size: content.length, modified: null, etag: '' };
  await assert.rejects(moves.run({ token: 'one', from, to: path, entry, replaced }), OutcomeUnknown);
  const parent = parseStoredPath(`/${path.slice(0, -1).join('/')}`) ?? rootPath;
  const change = { action: 'upload', parent, name: path.at(-1) ?? '', newName: '', token: 'one' } as const;
  advance();
  return () => changes.recover(change);
}

test('a replacement that has not taken place, and was given up, does not replace a newer file, even if its request arrives late', async () => {
  const setUp = startLater();
  const { server, evidence } = setUp;
  const recover = await startLateReplacement(setUp, ['a.txt'], 'late');
  assert.equal(await recover(), null);
  assert.equal(await evidence.giveUpReplacement('one'), true);
  server.items.set('a.txt', 'newer');
  for (const arrive of server.late) arrive();
  assert.equal(await recover(), null);
  assert.equal(server.items.get('a.txt'), 'newer');
});

test('a replacement that has not begun is not given up', async () => {
  const { server, evidence } = startChanges();
  const from = evidence.stagedPath('one');
  server.items.set(keyOf(from), 'waits for its turn');
  assert.equal(await evidence.giveUpReplacement('one'), false);
  assert.ok(server.items.has(keyOf(from)));
});

/** Removes an item, and does not record the outcome. */
async function removeWithoutRecord(server: FakeItemServer, changes: ItemChanges, name: string): Promise<void> {
  await changes.remove([], name, { token: 'one', confirm: async () => {} });
  assert.ok(!server.items.has(name));
}

for (const movesAtOnce of [true, false])
  test(`a folder that is created again after its removal stays, even if recovery has not seen the removal before (movesAtOnce: ${movesAtOnce})`, async () => {
    const { server, changes, now, advance } = startLater();
    server.movesAtOnce = movesAtOnce;
    server.items.set('box', null);
    await removeWithoutRecord(server, changes, 'box');
    advance();
    server.items.set('box', null);
    server.times.set('box', now());
    assert.equal(await changes.recover({ action: 'delete', parent: rootPath, name: 'box', newName: '', token: 'one' }), 'box');
    assert.ok(server.items.has('box'));
  });

test('if a server has moved only a part of a removed folder, the rest stays, and the removal counts as failed', async () => {
  const { server, changes, now, advance } = startLater();
  server.movesAtOnce = false;
  server.items.set('box', null);
  await removeWithoutRecord(server, changes, 'box');
  server.items.set('box', null); // the server has not moved the folder as a whole
  server.items.set('box/rest.txt', 'there before');
  server.times.set('.postern/one-begun.txt', now());
  server.times.set('box', now() + 5);
  server.times.set('box/rest.txt', now() - 1000);
  advance();
  assert.equal(await changes.recover({ action: 'delete', parent: rootPath, name: 'box', newName: '', token: 'one' }), null);
  assert.ok(server.items.has('box/rest.txt'));
});

test('recovery does not replace a file that another program has written meanwhile', async () => {
  for (const movesAtOnce of [true, false])
    for (const content of ['of the same size as the upload', 'longer than the file that was uploaded', 'shorter']) {
      const setUp = startLater();
      setUp.server.movesAtOnce = movesAtOnce;
      const recover = await startLateReplacement(setUp, ['a.txt'], 'the bytes of the late upload..');
      setUp.server.items.set('a.txt', content);
      assert.equal(await recover(), null);
      assert.equal(setUp.server.items.get('a.txt'), content);
    }
});

test('a rename that took place is recognized, even if another file has got the old name since', async () => {
  const { server, changes, advance } = startLater();
  server.items.set('a.txt', 'the renamed file');
  await changes.rename([], 'a.txt', 'b.txt', { token: 'one', pendingTokens: [], confirm: async () => {} });
  server.items.set('a.txt', 'another file');
  advance();
  assert.equal(await changes.recover({ action: 'rename', parent: rootPath, name: 'a.txt', newName: 'b.txt', token: 'one' }), 'b.txt');
});

test('a replacement that was given up is not taken for done, if deleting its evidence failed', async (t) => {
  const setUp = startLater();
  const { evidence } = setUp;
  const recover = await startLateReplacement(setUp, ['a.txt'], 'late');
  t.mock.method(evidence, 'clear', () => Promise.reject(new Error('the server is away')));
  await assert.rejects(evidence.giveUpReplacement('one'), /away/);
  assert.equal(await recover(), null);
  t.mock.restoreAll();
  assert.equal(await evidence.giveUpReplacement('one'), true);
});

test('a replacement in a folder that no longer exists is not completed', async () => {
  const setUp = startLater();
  setUp.server.items.set('box', null);
  const recover = await startLateReplacement(setUp, ['box', 'a.txt'], 'late');
  setUp.server.items.delete('box');
  setUp.server.items.delete('box/a.txt');
  assert.equal(await recover(), null);
});

for (const movesAtOnce of [true, false])
  test(`an upload that was not moved does not count as done, even if another file has its name and its size (movesAtOnce: ${movesAtOnce})`, async () => {
    const { server, evidence, moves, changes, advance } = startLater();
    server.movesAtOnce = movesAtOnce;
    server.items.set('.postern', null);
    const from = evidence.stagedPath('one');
    server.items.set(keyOf(from), 'AAAA');
    server.lateMoves = 2;
    const entry = { name: 'a.txt', folder: false, size: 4, modified: null, etag: '' };
    await assert.rejects(moves.run({ token: 'one', from, to: ['a.txt'], entry }), OutcomeUnknown);
    server.items.set('a.txt', 'BBBB');
    advance();
    const recover = () => changes.recover({ action: 'upload', parent: rootPath, name: 'a.txt', newName: '', token: 'one' });
    assert.equal(await recover(), null);
    server.items.set('a.txt', 'AAAA'); // the server has copied the file, and not deleted it yet
    assert.equal(await recover(), movesAtOnce ? null : 'a.txt');
  });

test('a folder that was not renamed does not count as renamed, even if another folder has the new name', async () => {
  const { server, changes, advance } = startLater();
  server.items.set('f', null);
  server.lateMoves = 2;
  const context = { token: 'one', pendingTokens: [], confirm: async () => {} };
  await assert.rejects(changes.rename([], 'f', 'g', context), OutcomeUnknown);
  server.items.set('g', null);
  advance();
  assert.equal(await changes.recover({ action: 'rename', parent: rootPath, name: 'f', newName: 'g', token: 'one' }), null);
});
