import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isChange } from '../../src/features/operation.ts';
import { operations } from '../../src/features/operations.ts';
import { actionChoices, actionLabel } from '../../web/console/activity/action-labels.ts';

test('the audit log of the console can be filtered by every operation that changes records, and names each in words', () => {
  const choices = actionChoices.flatMap(({ items }) => items.map(({ value }) => value));
  for (const { name } of operations.filter(isChange)) {
    assert.ok(choices.includes(name), name);
    assert.notEqual(actionLabel(name), name);
  }
});
