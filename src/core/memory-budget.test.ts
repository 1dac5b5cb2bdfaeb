import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryBudget } from './memory-budget.ts';

test('one group can take half of the memory, and a second one half of the rest', () => {
  const budget = new MemoryBudget(1000, () => new Error('no memory'));
  const first = budget.of(1).begin();
  assert.throws(() => first.set(501), /no memory/);
  first.set(500);
  const second = budget.of(2).begin();
  assert.throws(() => second.set(251), /no memory/);
  second.set(250);
  assert.throws(() => budget.of(1).begin().set(1), /no memory/);
});

test('memory can be taken again after its task has ended', () => {
  const budget = new MemoryBudget(1000, () => new Error('no memory'));
  {
    using work = budget.of(1).begin();
    work.set(500);
    work.set(400);
  }
  budget.of(1).begin().set(500);
});
