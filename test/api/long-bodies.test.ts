import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startPostern } from '../start.ts';
import { fieldErrorsOf } from './field-errors.ts';
import { callRaw, jsonHeaders } from './raw-call.ts';

const post = (body: string) => ({ method: 'POST', headers: jsonHeaders, body });

test('a body that is a long array is refused because it is not an object', async (t) => {
  const postern = await startPostern(t);
  const answer = await callRaw(postern, '/api/v1/share/get', post(`["__proto__"${',0'.repeat(40_000)}]`));
  assert.equal(answer.status, 400);
  assert.deepEqual(answer.body.errors, [{ field: 'body', detail: 'must be object' }]);
});

test('a body with more levels or values than any request needs is refused', async (t) => {
  const postern = await startPostern(t);
  for (const [body, status] of [
    ['['.repeat(500_000), 400],
    [`{"users":[${'{},'.repeat(300_000)}{}]}`, 413],
  ] as const)
    assert.equal((await callRaw(postern, '/api/v1/accessuser/addMany', post(body))).status, status);
});

test('a NUL character and the name __proto__ are refused anywhere in a body', async (t) => {
  const postern = await startPostern(t);
  const rows = (row: string) => `{"users":[${'{"username":"u","active":true},'.repeat(900)}${row}]}`;
  for (const [body, field] of [
    [rows('{"username":"a\\u0000b"}'), 'username'],
    [rows('{"__proto__":{}}'), '__proto__'],
    [`{"title":"__proto__","description":["a",{"b":["\\u0000"]}]}`, 'b'],
  ] as const)
    assert.deepEqual(fieldErrorsOf(await callRaw(postern, '/api/v1/accessuser/addMany', post(body))), [field]);
});

test('many long bodies that arrive together are read, and those beyond the limits get 503 with Retry-After', async (t) => {
  const postern = await startPostern(t);
  const body = JSON.stringify({ id: 999_999 }).padEnd(1 << 20, ' ');
  const answers = await Promise.all(Array.from({ length: 160 }, () => callRaw(postern, '/api/v1/share/get', post(body))));
  const refusals = answers.filter(({ status }) => status === 503);
  assert.ok(answers.every(({ status }) => status === 404 || status === 503));
  // From one wide network, 32 MiB may arrive at the same time: 32 of these bodies. The machine decides how many more are read.
  const leastRead = 32;
  assert.ok(refusals.length <= answers.length - leastRead, `${refusals.length} are refused`);
  for (const { body: problem, headers } of refusals) {
    assert.equal(problem.code, 'bodiesBusy');
    assert.ok(Number(headers.get('retry-after')) > 0);
  }
  assert.equal((await callRaw(postern, '/api/v1/share/get', post(body))).status, 404);
});
