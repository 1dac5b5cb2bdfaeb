import assert from 'node:assert/strict';
import { test } from 'node:test';
import { idleThread } from './idle-thread.ts';

/** Returns an owner that counts its callbacks. `isEnded` resolves at the first end of its thread. */
function countingOwner() {
  const firstEnd = Promise.withResolvers<void>();
  return {
    isEnded: firstEnd.promise,
    rejections: 0,
    ends: 0,
    receive: () => {},
    isIdle: () => true,
    rejectPending() {
      this.rejections += 1;
    },
    onEnd() {
      this.ends += 1;
      firstEnd.resolve();
    },
  };
}

test('if a thread cannot be started, the pending requests are rejected and no error is thrown', () => {
  const owner = countingOwner();
  const thread = idleThread('./none', import.meta.url, owner, () => () => 'no worker takes a function');
  thread.post('a request');
  assert.deepEqual([owner.rejections, owner.ends], [1, 1]);
});

test('if a request cannot be copied to the thread, the pending requests are rejected, and the thread is ended', () => {
  const owner = countingOwner();
  const thread = idleThread('./none', import.meta.url, owner);
  thread.post(() => 'a function cannot be copied');
  assert.deepEqual([owner.rejections, owner.ends], [1, 1]);
});

test('the end of a thread is reported once, even if the thread fails before its idle time is over', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const keepRunning = setInterval(() => {}, 1000); // an idle thread does not keep the process running
  t.after(() => clearInterval(keepRunning));
  const owner = countingOwner();
  const thread = idleThread('./none', import.meta.url, owner); // fails, because there is no such script
  thread.post('a request');
  thread.startIdleTimer(1000);
  await owner.isEnded;
  t.mock.timers.tick(1000);
  assert.equal(owner.ends, 1);
});
