import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldRefusal, messages, Refusal } from './messages.ts';

const all = Object.entries(messages);
// The statuses of RFC 9110, 6585 and 4918 that Postern uses, and 460 of the protocol tus. 422 is not used.
const statuses = new Set([200, 400, 401, 403, 404, 405, 408, 409, 410, 412, 413, 415, 416, 417, 421, 423, 429, 431, 460, 500, 503, 507]);

test('no two messages have the same number', () => assert.equal(new Set(all.map(([, { id }]) => id)).size, all.length));

test('no two messages have the same title', () => assert.equal(new Set(all.map(([, { title }]) => title)).size, all.length));

test('every message has one of the statuses that Postern uses', () => {
  for (const [name, { status }] of all) assert.ok(statuses.has(status), `${name} has status ${status}`);
});

test('the number of a message has four digits and begins with the first two digits of its status', () => {
  for (const [name, { id, status }] of all) {
    assert.match(String(id), /^\d{4}$/, name);
    assert.equal(String(id).slice(0, 2), String(status).slice(0, 2), name);
  }
});

test('a message has a camelCase name and a title of one line', () => {
  for (const [name, { title }] of all) {
    assert.match(name, /^[a-z][A-Za-z]+$/);
    assert.match(title, /^[A-Z][^\n]*[^.\s]$/, name);
  }
});

test('the message for an unknown link does not reveal whether the link ever existed', () => {
  const { linkUnknown } = messages;
  assert.equal(linkUnknown.status, 404);
  assert.doesNotMatch(linkUnknown.title, /inactive|stopped|yet|share|begun|deleted/i);
});

test('a refusal has the title of its message unless it has a detail', () => {
  assert.equal(new Refusal('linkEnded').message, messages.linkEnded.title);
  assert.equal(new Refusal('linkEnded', 'Ended on Friday').message, 'Ended on Friday');
});

test('a field refusal names the field', () => {
  const refusal = fieldRefusal('path', 'does not exist there');
  assert.equal(messages[refusal.messageName].status, 400);
  assert.match(refusal.message, /path/);
  assert.deepEqual(refusal.extras.fieldErrors, [{ field: 'path', detail: 'does not exist there' }]);
});
