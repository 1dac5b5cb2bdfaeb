import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rootPath } from '#core/item-path.ts';
import { ItemExists, OutcomeUnknown } from '#ports/storage-errors.ts';
import { ChangeEvidence } from './change-evidence.ts';
import { ItemChanges } from './item-changes.ts';
import { ItemMoves } from './item-moves.ts';
import type { ItemServer, MoveOutcome, ServerEntry } from './item-server.ts';

const keyOf = (path: readonly string[]) => path.join('/');

/** A fake server in memory. It can get the request for a move late, after the connection was lost. */
class FakeServer implements ItemServer {
  readonly maxWorkTimes = { move: 60_000, newFile: () => 60_000 };
  movesAtOnce = true;
  readonly items = new Map<string, string | null>(); // null: a folder
  /** When items were written, for those whose time matters. */
  readonly times = new Map<string, number>();
  /** The moves that have not reached the server yet. */
  readonly late: (() => MoveOutcome)[] = [];
  /** How many further moves arrive late. */
  lateMoves = 0;

  async find(path: readonly string[]): Promise<ServerEntry | null> {
    const content = this.items.get(keyOf(path));
    if (content === undefined) return path.length === 0 ? { name: '', folder: true, size: 0, modified: 0, etag: '' } : null;
    const [folder, size] = [content === null, content?.length ?? 0];
    return {
      name: path.at(-1) ?? '',
      folder,
      size,
      modified: this.times.get(keyOf(path)) ?? 0,
      etag: `W/"${content}"`,
      isEmpty: size === 0,
    };
  }

  async *list(): AsyncGenerator<readonly ServerEntry[]> {}

  async readText(path: readonly string[]): Promise<string | null> {
    return this.items.get(keyOf(path)) ?? null;
  }

  async writeText(path: readonly string[], text: string): Promise<boolean> {
    this.items.set(keyOf(path), text);
    return true;
  }

  async createFolder(path: readonly string[]): Promise<boolean> {
    this.items.set(keyOf(path), null);
    return true;
  }

  async createStagingFolder(path: readonly string[]): Promise<void> {
    await this.createFolder(path);
  }

  async move(from: readonly string[], to: readonly string[], { overwrites }: { readonly overwrites: boolean }): Promise<MoveOutcome> {
    const move = () => this.#move(keyOf(from), keyOf(to), overwrites);
    if (this.lateMoves === 0) return move();
    this.lateMoves -= 1;
    this.late.push(move);
    return 'lost';
  }

  #move(from: string, to: string, overwrites: boolean): MoveOutcome {
    const item = this.items.get(from);
    if (item === undefined || (this.items.has(to) && !overwrites)) return new ItemExists('the name is taken, or there is no such item');
    this.items.delete(from);
    this.items.set(to, item);
    return 'moved';
  }

  async delete(path: readonly string[]): Promise<void> {
    this.items.delete(keyOf(path));
  }
}

function startChanges(now = Date.now) {
  const server = new FakeServer();
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
async function removeWithoutRecord(server: FakeServer, changes: ItemChanges, name: string): Promise<void> {
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
    for (const content of ['of the same size as the upload', 'longer than the file that was uploaded']) {
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
