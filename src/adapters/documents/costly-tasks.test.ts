import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DocumentUnusable } from '#ports/documents.ts';
import { CostlyTasks, stopReason } from './costly-tasks.ts';
import { SandboxFailure } from './sandbox/sandboxed-process.ts';

test('a task that took too much time is refused without another attempt, and other tasks are not', () => {
  const tasks = new CostlyTasks();
  const failure = new DocumentUnusable('tooCostly', { cause: new SandboxFailure('time') });
  tasks.noteFailure('page 1', failure);
  assert.throws(() => tasks.checkTask('page 1'), failure);
  tasks.checkTask('page 2');
});

test('only the sender of a slow task counts as slow, not another link of its tenant, and not the same number at another tenant', () => {
  const tasks = new CostlyTasks();
  tasks.noteSlow({ tid: 1, group: 'share 1' });
  assert.equal(tasks.isSlow({ tid: 1, group: 'share 1' }), true);
  for (const other of [
    { tid: 1, group: 'share 2' },
    { tid: 2, group: 'share 1' },
  ])
    assert.equal(tasks.isSlow(other), false);
});

test('a process that ended by itself says nothing about the cost of its task', () => {
  const failed = (why: 'time' | 'memory' | 'ended') => new DocumentUnusable('tooCostly', { cause: new SandboxFailure(why) });
  assert.deepEqual([failed('time'), failed('memory'), failed('ended'), new DocumentUnusable('damaged')].map(stopReason), [
    'time',
    'memory',
    null,
    null,
  ]);
});
