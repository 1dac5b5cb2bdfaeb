import assert from 'node:assert/strict';
import { test } from 'node:test';
import { idleThread } from './idle-thread.ts';

test('a thread that cannot be started reports a loss to its owner and throws nothing', () => {
  let lost = 0;
  const owner = {
    receive: () => {},
    isIdle: () => true,
    lose() {
      lost += 1;
    },
  };
  const thread = idleThread('./none', import.meta.url, owner, () => 'no worker takes a function');
  thread.post('a question');
  assert.equal(lost, 1);
});
