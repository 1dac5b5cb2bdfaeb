import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IdleThread } from '#adapters/os/idle-thread.ts';
import { ThreadBudget, ThreadPool } from './thread-pool.ts';

test('the event loop goes on while thousands of requests follow one another at a fast disk', async () => {
  /** A fake thread that has answered before the event loop goes on. */
  const openThread = ({ receive }: { receive: (response: { value: null }) => void }): IdleThread => ({
    post: () => queueMicrotask(() => receive({ value: null })),
    startIdleTimer: () => {},
    [Symbol.asyncDispose]: async () => {},
  });
  await using pool = new ThreadPool({ openThread, budget: new ThreadBudget(0), settings: { answerLimit: 20_000 } });
  const lane = pool.addLane({ concurrency: 1 });
  let hasTurned = false;
  setImmediate(() => {
    hasTurned = true;
  });
  for (let sent = 0; !hasTurned; sent += 1) {
    assert.ok(sent < 1_000_000, 'the requests leave no time for anything else');
    await lane.run('close', [0]);
  }
});
