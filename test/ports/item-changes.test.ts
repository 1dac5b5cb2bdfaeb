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

test('a replacement that has not taken place, and was given up, does not replace a newer file, even if its request arrives late', async () => {
  let now = Date.now();
  const { server, evidence, moves, changes } = startChanges(() => now);
  server.items.set('a.txt', 'old');
  const replaced = await server.find(['a.txt']);
  assert.ok(replaced);
  server.items.set('.postern', null);
  const from = evidence.stagedPath('one');
  server.items.set(keyOf(from), 'late');
  server.lateMoves = 2;
  const entry = { ...replaced, size: 4, modified: null, etag: '' };
  await assert.rejects(moves.run({ token: 'one', from, to: ['a.txt'], entry, replaced }), OutcomeUnknown);
  now += 120_000;
  const change = { action: 'upload', parent: rootPath, name: 'a.txt', newName: '', token: 'one' } as const;
  assert.equal(await changes.recover(change), null);

  assert.equal(await evidence.giveUpReplacement('one'), true);
  server.items.set('a.txt', 'newer');
  for (const arrive of server.late) arrive();
  assert.equal(await changes.recover(change), null);
  assert.equal(server.items.get('a.txt'), 'newer');
});

test('a replacement that has not begun is not given up', async () => {
  const { server, evidence } = startChanges();
  const from = evidence.stagedPath('one');
  server.items.set(keyOf(from), 'waits for its turn');
  assert.equal(await evidence.giveUpReplacement('one'), false);
  assert.ok(server.items.has(keyOf(from)));
});

/** Removes an item whose outcome nobody records. */
async function removeWithoutRecord(server: FakeItemServer, changes: ItemChanges, name: string): Promise<void> {
  await changes.remove([], name, { token: 'one', confirm: async () => {} });
  assert.ok(!server.items.has(name));
}

for (const movesAtOnce of [true, false])
  test(`a folder that is created again after its removal stays, even if recovery has not seen the removal before (${movesAtOnce})`, async () => {
    let now = Date.now();
    const { server, changes } = startChanges(() => now);
    server.movesAtOnce = movesAtOnce;
    server.items.set('box', null);
    await removeWithoutRecord(server, changes, 'box');
    now += 1_200_000;
    server.items.set('box', null);
    server.times.set('box', now);
    assert.equal(await changes.recover({ action: 'delete', parent: rootPath, name: 'box', newName: '', token: 'one' }), 'box');
    assert.ok(server.items.has('box'));
  });

test('recovery does not replace a file that another program has written meanwhile', async () => {
  for (const movesAtOnce of [true, false])
    for (const content of ['of the same size as the upload', 'longer than the file that was uploaded', 'shorter']) {
      let now = Date.now();
      const { server, evidence, moves, changes } = startChanges(() => now);
      server.movesAtOnce = movesAtOnce;
      server.items.set('a.txt', 'old');
      const replaced = await server.find(['a.txt']);
      assert.ok(replaced);
      server.items.set('.postern', null);
      const from = evidence.stagedPath('one');
      server.items.set(keyOf(from), 'the bytes of the late upload..');
      server.lateMoves = 2;
      await assert.rejects(
        moves.run({ token: 'one', from, to: ['a.txt'], entry: { ...replaced, size: 30, modified: null, etag: '' }, replaced }),
      );
      server.items.set('a.txt', content);
      now += 1_200_000;
      assert.equal(await changes.recover({ action: 'upload', parent: rootPath, name: 'a.txt', newName: '', token: 'one' }), null);
      assert.equal(server.items.get('a.txt'), content);
    }
});

test('a rename that took place is recognized, even if another file has got the old name since', async () => {
  let now = Date.now();
  const { server, changes } = startChanges(() => now);
  server.items.set('a.txt', 'the renamed file');
  await changes.rename([], 'a.txt', 'b.txt', { token: 'one', pendingTokens: [], confirm: async () => {} });
  server.items.set('a.txt', 'another file');
  now += 1_200_000;
  assert.equal(await changes.recover({ action: 'rename', parent: rootPath, name: 'a.txt', newName: 'b.txt', token: 'one' }), 'b.txt');
});

test('a replacement that was given up is not taken for done, if deleting its evidence failed', async (t) => {
  let now = Date.now();
  const { server, evidence, moves, changes } = startChanges(() => now);
  server.items.set('a.txt', 'old');
  const replaced = await server.find(['a.txt']);
  assert.ok(replaced);
  server.items.set('.postern', null);
  const from = evidence.stagedPath('one');
  server.items.set(keyOf(from), 'late');
  server.lateMoves = 2;
  await assert.rejects(
    moves.run({ token: 'one', from, to: ['a.txt'], entry: { ...replaced, size: 4, modified: null, etag: '' }, replaced }),
  );
  now += 120_000;
  t.mock.method(evidence, 'clear', () => Promise.reject(new Error('the server is away')));
  await assert.rejects(evidence.giveUpReplacement('one'), /away/);
  assert.equal(await changes.recover({ action: 'upload', parent: rootPath, name: 'a.txt', newName: '', token: 'one' }), null);
  t.mock.restoreAll();
  assert.equal(await evidence.giveUpReplacement('one'), true);
});

test('the rest of a folder of which a server has moved only a part is moved, too', async () => {
  let now = Date.now();
  const { server, changes } = startChanges(() => now);
  server.movesAtOnce = false;
  server.items.set('box', null);
  await removeWithoutRecord(server, changes, 'box');
  server.items.set('box', null); // it was not moved as a whole
  server.items.set('box/rest.txt', 'there before');
  server.times.set('.postern/one-begun.txt', now);
  server.times.set('box', now + 5);
  server.times.set('box/rest.txt', now - 1000);
  now += 1_200_000;
  assert.equal(await changes.recover({ action: 'delete', parent: rootPath, name: 'box', newName: '', token: 'one' }), 'box');
  assert.ok(!server.items.has('box'));
});

test('a replacement in a folder that no longer exists is not completed', async () => {
  let now = Date.now();
  const { server, evidence, moves, changes } = startChanges(() => now);
  server.items.set('box', null);
  server.items.set('box/a.txt', 'old');
  const replaced = await server.find(['box', 'a.txt']);
  const parent = parseStoredPath('/box');
  assert.ok(replaced && parent);
  server.items.set('.postern', null);
  const from = evidence.stagedPath('one');
  server.items.set(keyOf(from), 'late');
  server.lateMoves = 2;
  const entry = { ...replaced, size: 4, modified: null, etag: '' };
  await assert.rejects(moves.run({ token: 'one', from, to: ['box', 'a.txt'], entry, replaced }));
  server.items.delete('box');
  server.items.delete('box/a.txt');
  now += 1_200_000;
  assert.equal(await changes.recover({ action: 'upload', parent, name: 'a.txt', newName: '', token: 'one' }), null);
});
