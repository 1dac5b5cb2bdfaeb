import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldRefusal, messages, Refusal } from './messages.ts';

const all = Object.entries(messages);
// decisions.md, "Bodies and answers", and the statuses of HTTP itself; 422 is not used.
const statuses = new Set([200, 400, 401, 403, 404, 405, 408, 409, 410, 412, 413, 415, 416, 417, 421, 429, 431, 500, 503, 507]);

test('no two messages have the same number', () => assert.equal(new Set(all.map(([, { id }]) => id)).size, all.length));

test('no two messages of one kind have the same words', () => assert.equal(new Set(all.map(([, { title }]) => title)).size, all.length));

test('a message answers with a status that the documentation knows', () => {
  for (const [name, { status }] of all) assert.ok(statuses.has(status), `${name} answers ${status}`);
});

test('the number of a message has four digits and begins with the first two of its status', () => {
  for (const [name, { id, status }] of all) {
    assert.match(String(id), /^\d{4}$/, name);
    assert.equal(String(id).slice(0, 2), String(status).slice(0, 2), name);
  }
});

test('a message is a stable word and a line for people', () => {
  for (const [name, { title }] of all) {
    assert.match(name, /^[a-z][A-Za-z]+$/);
    assert.match(title, /^[A-Z][^\n]*[^.\s]$/, name);
  }
});

test('no message of a link tells whether it was ever there', () => {
  const { linkUnknown } = messages;
  assert.equal(linkUnknown.status, 404);
  assert.doesNotMatch(linkUnknown.title, /inactive|stopped|yet|share|begun|deleted/i);
});

test('a refusal says the words of the catalogue unless it knows better', () => {
  assert.equal(new Refusal('linkEnded').message, messages.linkEnded.title);
  assert.equal(new Refusal('linkEnded', 'Ended on Friday').message, 'Ended on Friday');
});

test('a fault of one field is told by its name', () => {
  const refusal = fieldRefusal('path', 'does not exist there');
  assert.equal(messages[refusal.messageName].status, 400);
  assert.match(refusal.message, /path/);
  assert.deepEqual(refusal.extras.fieldErrors, [{ field: 'path', detail: 'does not exist there' }]);
});
