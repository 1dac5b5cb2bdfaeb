import assert from 'node:assert/strict';
import { test } from 'node:test';
import { idleThread } from './idle-thread.ts';

test('if a thread cannot be started, the pending requests are rejected and no error is thrown', () => {
  let rejections = 0;
  const owner = {
    receive: () => {},
    isIdle: () => true,
    rejectPending() {
      rejections += 1;
    },
  };
  const thread = idleThread('./none', import.meta.url, owner, () => () => 'no worker takes a function');
  thread.post('a request');
  assert.equal(rejections, 1);
});
