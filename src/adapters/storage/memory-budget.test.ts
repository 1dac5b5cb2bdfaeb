import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StorageBusy } from '#ports/storage-errors.ts';
import { MemoryBudget } from './memory-budget.ts';
import { selectPage } from './select-page.ts';

test('one tenant can take half of the memory, and a second one half of the rest', () => {
  const budget = new MemoryBudget(1000);
  const first = budget.of(1).begin();
  assert.throws(() => first.set(501), StorageBusy);
  first.set(500);
  const second = budget.of(2).begin();
  assert.throws(() => second.set(251), StorageBusy);
  second.set(250);
  assert.throws(() => budget.of(1).begin().set(1), StorageBusy);
});

test('memory can be taken again after its task has ended', () => {
  const budget = new MemoryBudget(1000);
  {
    using work = budget.of(1).begin();
    work.set(500);
    work.set(400);
  }
  budget.of(1).begin().set(500);
});

test('a page of a folder takes memory until its entries are no longer needed', async () => {
  const memory = new MemoryBudget(10_000).of(1);
  const entryOf = (number: number) => ({ name: `${number}`, folder: false, size: 1, modified: 1, etag: `"${'e'.repeat(200)}"` });
  async function* batches() {
    yield Array.from({ length: 8 }, (_, number) => entryOf(number));
  }
  const select = () => selectPage(batches(), { sort: 'name', order: 'asc', searchWord: null, startIndex: 0, pageSize: 5 }, memory);
  const page = await select();
  await assert.rejects(select, StorageBusy);
  page.memory?.[Symbol.dispose]();
  assert.equal((await select()).entries.length, 5);
});
