import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { turns } from '#features/turns/turns.ts';

const limits = { maxWaiting: { inner: 100, all: 100 }, refusal: () => new Error('too many wait') };

/** Creates turns with four places, of which each network may have at most two. `start` queues a task that runs until the test ends it. */
function startTurns() {
  const places = turns({ ...limits, concurrency: 4, concurrencyOfGroup: { level: 1, max: 2 } });
  const startedTasks: { readonly name: string; readonly end: () => void }[] = [];
  const start = (name: string, link: string, network: string) =>
    places.run([link, network], new AbortController().signal, async () => {
      const work = Promise.withResolvers<void>();
      startedTasks.push({ name, end: work.resolve });
      await work.promise;
    });
  const startedNames = () => startedTasks.map(({ name }) => name);
  return { start, startedTasks, startedNames };
}

test('one network has at most two of four places, at all links together, and requests of other networks start at once', async () => {
  const { start, startedNames } = startTurns();
  for (const link of ['a', 'b', 'c']) void start(`${link}1`, link, 'flood');
  void start('other', 'a', 'quiet');
  await setImmediate();
  assert.deepEqual(startedNames(), ['a1', 'b1', 'other']);
});

test('a place that a network gives back goes to its next request', async () => {
  const { start, startedTasks, startedNames } = startTurns();
  for (const link of ['a', 'b', 'c']) void start(`${link}1`, link, 'flood');
  await setImmediate();
  startedTasks[0]?.end();
  await setImmediate();
  assert.deepEqual(startedNames(), ['a1', 'b1', 'c1']);
});

test('when a place becomes free, a network with fewer than two places goes before one that has two', async () => {
  const { start, startedTasks, startedNames } = startTurns();
  for (const name of ['a1', 'a2', 'a3']) void start(name, 'a', 'first');
  for (const name of ['b1', 'b2']) void start(name, 'b', 'second');
  void start('c1', 'c', 'third');
  await setImmediate();
  assert.deepEqual(startedNames(), ['a1', 'a2', 'b1', 'b2']);
  startedTasks[2]?.end(); // of the second network
  await setImmediate();
  assert.deepEqual(startedNames(), ['a1', 'a2', 'b1', 'b2', 'c1']);
  startedTasks[0]?.end();
  await setImmediate();
  assert.equal(startedNames().at(-1), 'a3');
});
