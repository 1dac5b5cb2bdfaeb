import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { LateRequests, maxWorkTime } from './late-requests.ts';

test('a change counts as ended only when the service has had enough time for its last request', () => {
  let now = 1_000_000;
  const late = new LateRequests(() => now);
  const sentAt = now;
  assert.throws(() => late.check('token', sentAt, maxWorkTime()), StorageUnavailable);
  now += maxWorkTime() + 1;
  late.check('token', sentAt, maxWorkTime());
  assert.throws(() => late.check('other', sentAt, maxWorkTime(5 * 2 ** 30)), StorageUnavailable); // a large copy takes longer
});

test('if the clock of the service is ahead, a change ends after this process has waited long enough', () => {
  let now = 1_000_000;
  const late = new LateRequests(() => now);
  const sentAt = now + 3_600_000;
  assert.throws(() => late.check('token', sentAt, maxWorkTime()), StorageUnavailable);
  now += maxWorkTime() + 1;
  late.check('token', sentAt, maxWorkTime());
});
