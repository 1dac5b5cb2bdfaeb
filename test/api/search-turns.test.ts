import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '#core/messages.ts';
import { searchTurns } from '#features/search-turns.ts';

const stays = new AbortController().signal;
const many = { tid: 1, caller: 'key 1' };
const other = { tid: 2, caller: 'key 2' };

/** Searches that end when they are told to, and who was searched for, in order. */
function heldSearches() {
  const turns = searchTurns();
  const begun: string[] = [];
  const gates: (() => void)[] = [];
  const search = (who: typeof many, left = stays) =>
    turns.run(who, left, () => {
      begun.push(who.caller);
      return new Promise<void>((resolve) => gates.push(resolve));
    });
  const endOne = async () => {
    gates.shift()?.();
    await new Promise(setImmediate);
  };
  return { search, begun, endOne };
}

test('the searches of one caller hold up no other tenant: it has the next turn but one', async () => {
  const { search, begun, endOne } = heldSearches();
  for (let number = 0; number < 40; number += 1) void search(many);
  void search(other);
  const before = begun.length;
  await endOne();
  await endOne();
  assert.ok(begun.slice(before).includes('key 2'), String(begun.slice(before)));
});

test('a search that its client gave up is never begun', async () => {
  const { search, begun, endOne } = heldSearches();
  for (let number = 0; number < 4; number += 1) void search(many);
  const left = new AbortController();
  const givenUp = search(other, left.signal);
  left.abort();
  await assert.rejects(givenUp, { name: 'AbortError' });
  await endOne();
  assert.ok(!begun.includes('key 2'));
});

test('of one caller 64 searches wait, a further one is told to come again, and another caller’s waits', async () => {
  const { search } = heldSearches();
  for (let number = 0; number < 68; number += 1) void search(many);
  await assert.rejects(search(many), (cause: unknown) => cause instanceof Refusal && cause.says === 'searchBusy');
  void search(other);
});
