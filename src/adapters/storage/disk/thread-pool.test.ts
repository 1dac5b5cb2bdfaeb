import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IdleThread } from '#adapters/os/idle-thread.ts';
import { ThreadBudget, ThreadPool } from './thread-pool.ts';

test('the event loop continues while thousands of requests follow one another on a fast disk', async () => {
  /** A fake thread that answers in a microtask, before the event loop continues. */
  const openThread = ({ receive }: { receive: (response: { value: null }) => void }): IdleThread => ({
    post: () => queueMicrotask(() => receive({ value: null })),
    startIdleTimer: () => {},
    [Symbol.asyncDispose]: async () => {},
  });
  await using pool = new ThreadPool({ openThread, budget: new ThreadBudget(0), settings: { responseTimeout: 20_000 } });
  const lane = pool.addLane({ concurrency: 1 });
  let hasTurned = false;
  setImmediate(() => {
    hasTurned = true;
  });
  for (let count = 0; !hasTurned; count += 1) {
    assert.ok(count < 1_000_000, 'the requests leave no time for anything else');
    await lane.run('close', [0]);
  }
});

test('a network with a thousand waiting requests does not delay the first one of another network', async () => {
  const startedRequests: number[] = [];
  const answers: (() => void)[] = [];
  /** A fake thread that answers when the test calls a function of `answers`. */
  const openThread = ({ receive }: { receive: (response: { value: null }) => void }): IdleThread => ({
    post(message) {
      const [number = 0] = (message as { parameters: number[] }).parameters;
      startedRequests.push(number);
      answers.push(() => receive({ value: null }));
    },
    startIdleTimer: () => {},
    [Symbol.asyncDispose]: async () => {},
  });
  await using pool = new ThreadPool({ openThread, budget: new ThreadBudget(0), settings: { responseTimeout: 20_000 } });
  const lane = pool.addLane({ concurrency: 1 });
  const waiting = Array.from({ length: 1000 }, (_, number) => lane.run('close', [number], { client: '203.0.113.1' }));
  const other = lane.run('close', [5000], { client: '198.51.100.1' });
  while (!startedRequests.includes(5000)) {
    answers.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.ok(startedRequests.length <= 3, `the other network waited for ${startedRequests.length} requests`);
  while (startedRequests.length < 1001) {
    answers.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  answers.shift()?.();
  await Promise.all([...waiting, other]);
});

test('a request can wait for its turn without a time limit while the disk responds to other requests', async (t) => {
  let now = 1000;
  t.mock.method(performance, 'now', () => now);
  const answers: (() => void)[] = [];
  /** A fake thread that answers when the test calls a function of `answers`. */
  const openThread = ({ receive }: { receive: (response: { value: null }) => void }): IdleThread => ({
    post: () => void answers.push(() => receive({ value: null })),
    startIdleTimer: () => {},
    [Symbol.asyncDispose]: async () => {},
  });
  const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
  await using pool = new ThreadPool({ openThread, budget: new ThreadBudget(0), settings: { responseTimeout: 20_000 } });
  const lane = pool.addLane({ concurrency: 1 });
  const waiting = Array.from({ length: 10 }, () => lane.run('close', [0], { onLateResult: () => {} }));
  for (let second = 0; second < 30; second += 5) {
    now += 5000;
    lane.expireQueued();
    answers.shift()?.();
    await nextTurn();
  }
  const lastRequest = lane.run('close', [0], { onLateResult: () => {} });
  while (answers.length > 0) {
    answers.shift()?.();
    await nextTurn();
  }
  await Promise.all([...waiting, lastRequest]);
});

test('requests that wait for a busy thread do not keep the event loop busy', async (t) => {
  t.mock.method(performance, 'now', () => 1000);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const openThread = (): IdleThread => ({ post: () => {}, startIdleTimer: () => {}, [Symbol.asyncDispose]: async () => {} });
  await using pool = new ThreadPool({ openThread, budget: new ThreadBudget(0), settings: { responseTimeout: 20_000 } });
  const lane = pool.addLane({ concurrency: 2 });
  void lane.run('close', [0]);
  void lane.run('close', [1]);
  const dispatch = t.mock.method(pool, 'dispatch');
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(dispatch.mock.callCount(), 0);
});

test('a thread ends a minute after the last request for a visitor, however often its location is checked', async (t) => {
  let now = 1000;
  t.mock.method(performance, 'now', () => now);
  let endTime = 0;
  const openThread = ({ receive }: { receive: (response: { value: null }) => void }): IdleThread => ({
    post: () => queueMicrotask(() => receive({ value: null })),
    startIdleTimer: (idleTime = 0) => {
      endTime = now + idleTime;
    },
    [Symbol.asyncDispose]: async () => {},
  });
  await using pool = new ThreadPool({ openThread, budget: new ThreadBudget(0), settings: { responseTimeout: 20_000 } });
  const lane = pool.addLane({ concurrency: 1 });
  await lane.run('close', [0]);
  assert.equal(endTime, 61_000);
  for (now = 31_000; now < 91_000; now += 30_000) {
    await lane.run('check', [{ path: '/', mountPoint: false }], { idleTime: 1000 });
    assert.equal(endTime, Math.max(61_000, now + 1000));
  }
});
