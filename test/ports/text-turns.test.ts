import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callerGroups } from '#features/turns/search-turns.ts';
import { textTurns } from '#features/turns/text-turns.ts';
import { until } from './until.ts';

const neverAborted = new AbortController().signal;

/** Blocks the event loop for 20 ms, as writing a long text does. */
function block(): void {
  for (const start = performance.now(); performance.now() - start < 20; );
}

test('between long texts of one tenant the event loop runs other work, and a text of another tenant comes next', async () => {
  const { run } = textTurns();
  const written: number[] = [];
  const write = (tid: number) =>
    run({ tid, groups: callerGroups(`key of ${tid}`) }, neverAborted, () => {
      block();
      written.push(tid);
    });
  const all = Array.from({ length: 4 }, () => write(1));
  await until(() => written.length === 1);
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  assert.ok(written.length < 3, `${written.length} long texts in twenty turns of the event loop`);
  all.push(write(2));
  await Promise.all(all);
  assert.ok(written.indexOf(2) < 3, written.join());
});
