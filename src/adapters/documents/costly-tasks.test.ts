import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DocumentUnusable, RendererUnavailable } from '#ports/documents.ts';
import { CostlyTasks } from './costly-tasks.ts';
import { SandboxFailure } from './sandbox/sandboxed-process.ts';

const [sender, other] = [
  { tid: 1, group: 'share 1' },
  { tid: 1, group: 'share 2' },
];
const tooCostly = new DocumentUnusable('tooCostly', { cause: new SandboxFailure('time') });
const fail = (cause: Error) => () => Promise.reject(cause);
const timeOf = (tasks: CostlyTasks, from = sender) => tasks.run(from, null, async (taskTime) => taskTime);

test('a task that took too much time is refused without another attempt', async () => {
  const tasks = new CostlyTasks();
  await assert.rejects(tasks.run(sender, 'page 1', fail(tooCostly)), tooCostly);
  assert.throws(() => tasks.checkTask('page 1'), tooCostly);
  await assert.rejects(
    tasks.run(other, 'page 1', () => assert.fail('another attempt')),
    tooCostly,
  );
  tasks.checkTask('page 2');
});

test('after a task that took too much time, its sender has less time, and others have as much as before', async () => {
  const tasks = new CostlyTasks();
  const time = await timeOf(tasks);
  await assert.rejects(tasks.run(sender, 'page 1', fail(tooCostly)));
  assert.ok((await timeOf(tasks)) < time);
  assert.equal(await timeOf(tasks, other), time);
});

test('a task for which only the shorter time was not enough may be tried again', async () => {
  const tasks = new CostlyTasks();
  await assert.rejects(tasks.run(sender, 'page 1', fail(tooCostly)));
  await assert.rejects(tasks.run(sender, 'page 2', fail(tooCostly)), RendererUnavailable);
  tasks.checkTask('page 2');
});

test('a document that is damaged changes nothing for its sender', async () => {
  const tasks = new CostlyTasks();
  const time = await timeOf(tasks);
  await assert.rejects(tasks.run(sender, 'page 1', fail(new DocumentUnusable('damaged'))));
  assert.equal(await timeOf(tasks), time);
  tasks.checkTask('page 1');
});
