import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createUsersProfile, newShare, startPostern } from '../start.ts';
import { createShare } from '../visit/visiting.ts';
import { fieldErrorAt, fieldErrorsOf } from './field-errors.ts';
import { addKey } from './keys.ts';
import { callRaw, jsonHeaders } from './raw-call.ts';

test('the success response of a change has four standard fields; add and duplicate also return the id, and viewId and viewUrl of a link', async (t) => {
  const postern = await startPostern(t);
  const addAnswer = await postern.call('share/add', newShare());
  assert.deepEqual(Object.keys(addAnswer).sort(), ['id', 'message', 'messageId', 'status', 'timestamp', 'viewId', 'viewUrl']);
  assert.match(addAnswer.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.deepEqual([addAnswer.status, typeof addAnswer.messageId, typeof addAnswer.message], [200, 'number', 'string']);
  assert.equal(addAnswer.viewUrl, `${postern.publicUrl}/s/${addAnswer.viewId}`);
  const duplicateAnswer = await postern.call('share/duplicate', { id: addAnswer.id, title: 'Copy' });
  assert.deepEqual(Object.keys(duplicateAnswer).sort(), Object.keys(addAnswer).sort());
  const profile = await postern.call('loginprofile/add', { title: 'Clients' });
  assert.equal(profile.viewUrl, `${postern.publicUrl}/p/${profile.viewId}`);
  const user = await postern.call('accessuser/add', { username: 'ann', active: true });
  assert.deepEqual(Object.keys(user).sort(), ['id', 'message', 'messageId', 'status', 'timestamp']);
  const deleteAnswer = await postern.call('share/delete', { id: addAnswer.id });
  assert.deepEqual(Object.keys(deleteAnswer).sort(), ['message', 'messageId', 'status', 'timestamp']);
});

test('a refusal is a problem+json document with all documented fields', async (t) => {
  const postern = await startPostern(t);
  const { status, headers, body } = await postern.send('share/add', { title: 7 });
  assert.equal(status, 400);
  assert.match(headers.get('content-type') ?? '', /^application\/problem\+json/);
  for (const name of ['type', 'title', 'detail', 'instance', 'code', 'timestamp', 'message', 'errorType'])
    assert.equal(typeof body[name], 'string', name);
  assert.deepEqual([body.status, typeof body.messageId], [400, 'number']);
  assert.deepEqual([body.message, body.errorType, body.instance], [body.detail, body.code, '/api/v1/share/add']);
  for (const fieldError of body.errors) assert.deepEqual(Object.keys(fieldError), ['field', 'detail']);
});

test('every response has a unique X-Request-Id', async (t) => {
  const postern = await startPostern(t);
  const answers = [
    await postern.send('share/search'),
    await postern.send('share/get', { id: 99 }),
    await postern.send('share/search', {}, { key: null }),
    await postern.send('no/such', {}, { method: 'GET' }),
    await postern.send('%zz', {}, { method: 'GET' }),
  ];
  const ids = answers.map(({ headers }) => headers.get('x-request-id'));
  assert.ok(ids.every((id) => id !== null));
  assert.equal(new Set(ids).size, answers.length);
});

test('a request with several errors gets the status code that comes first in the order 401, 403, 404 or 405, 413, 415, 400', async (t) => {
  const postern = await startPostern(t);
  const reader = await addKey(postern, 'reader');
  const large = 'x'.repeat((1 << 20) + 1);
  const text = { 'content-type': 'text/plain' };
  assert.equal((await callRaw(postern, '/api/v1/share/add', { method: 'POST', body: large, headers: text, key: null })).status, 401);
  assert.equal((await callRaw(postern, '/api/v1/no/such', { method: 'POST', body: large, headers: text, key: null })).status, 401);
  assert.equal((await callRaw(postern, '/api/v1/share/add', { method: 'POST', body: large, headers: text, key: reader })).status, 403);
  assert.equal((await callRaw(postern, '/api/v1/no/such', { method: 'POST', body: large, headers: text })).status, 404);
  assert.equal((await callRaw(postern, '/api/v1/share/add', { method: 'PUT', body: large, headers: text })).status, 405);
  assert.equal((await callRaw(postern, '/api/v1/share/add', { method: 'POST', body: large, headers: text })).status, 413);
  assert.equal((await callRaw(postern, '/api/v1/share/add', { method: 'POST', body: '{', headers: text })).status, 415);
  assert.equal((await callRaw(postern, '/api/v1/share/add', { method: 'POST', body: '{', headers: jsonHeaders })).status, 400);
});

test('a wrong method gets 405 with the allowed method', async (t) => {
  const postern = await startPostern(t);
  for (const [name, allow] of [
    ['share/search', 'GET'],
    ['share/get', 'POST'],
    ['share/delete', 'DELETE'],
    ['login', 'POST'],
  ] as const) {
    const { status, headers } = await callRaw(postern, `/api/v1/${name}`, { method: 'PATCH', headers: jsonHeaders, body: '{}' });
    assert.equal(status, 405, name);
    assert.equal(headers.get('allow'), allow);
  }
});

test('a body of exactly 1 MiB is accepted, and one byte more gets 413', async (t) => {
  const postern = await startPostern(t);
  const body = (length: number) => JSON.stringify({ id: 1 }).padEnd(length, ' ');
  assert.equal((await callRaw(postern, '/api/v1/share/get', { method: 'POST', headers: jsonHeaders, body: body(1 << 20) })).status, 404);
  assert.equal(
    (await callRaw(postern, '/api/v1/share/get', { method: 'POST', headers: jsonHeaders, body: body((1 << 20) + 1) })).status,
    413,
  );
});

test('a JSON body of an unauthenticated request is limited to 16 KiB', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  const body = (length: number) => '{}'.padEnd(length, ' ');
  const openPaths = ['login', 'operator/signIn', 'operator/first', 'operator/signOut'].map((name) => `/api/v1/${name}`);
  const linkPaths = ['sign-in', 'sign-out', 'rename', 'folder/new'].map((name) => `${base}/${name}`);
  for (const path of [...openPaths, ...linkPaths, '/p/none/sign-in']) {
    const post = async (length: number) => await callRaw(postern, path, { method: 'POST', headers: jsonHeaders, body: body(length) });
    assert.notEqual((await post(1 << 14)).status, 413, path);
    const refusal = await post((1 << 14) + 1);
    assert.equal(refusal.status, 413, path);
    assert.match(refusal.body.detail, /16 KiB/);
  }
});

test('the response to a body with thousands of unknown fields names at most twenty, and shortens long names', async (t) => {
  const postern = await startPostern(t);
  const unknownFields = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, 1]));
  for (const fields of [unknownFields, { ['k'.repeat(1 << 19)]: 1, id: 1 }]) {
    const { status, body } = await callRaw(postern, '/api/v1/share/get', {
      method: 'POST',
      headers: jsonHeaders,
      body: JSON.stringify(fields),
    });
    assert.equal(status, 400);
    assert.ok(body.errors.length <= 20 && JSON.stringify(body).length < 8192, `${body.errors.length} errors`);
  }
  const text = JSON.stringify({ id: 1, ...unknownFields });
  const refusal = await callRaw(postern, '/api/v1/share/get', { method: 'POST', headers: jsonHeaders, body: text });
  assert.match(refusal.body.detail, /; and 19980 more$/);
});

test('a body that is not application/json in UTF-8 is refused', async (t) => {
  const postern = await startPostern(t);
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'application/merge-patch+json'])
    assert.equal(
      (await callRaw(postern, '/api/v1/share/get', { method: 'POST', headers: { 'content-type': type }, body: '{"id":1}' })).status,
      415,
      type,
    );
  const latin = Buffer.from('{"username":"J\u00fcrgen","active":true}', 'latin1');
  assert.equal((await callRaw(postern, '/api/v1/accessuser/add', { method: 'POST', headers: jsonHeaders, body: latin })).status, 400);
  const withoutBody = await callRaw(postern, '/api/v1/share/search', { method: 'GET' });
  assert.equal(withoutBody.status, 200);
});

test('application/json with the charset UTF-8 is accepted', async (t) => {
  const postern = await startPostern(t);
  const { status } = await callRaw(postern, '/api/v1/loginprofile/get', {
    method: 'POST',
    headers: { 'content-type': 'application/json; charset=UTF-8' },
    body: '{"id":1}',
  });
  assert.equal(status, 200);
});

for (const body of ['[]', '"text"', '7', 'true', '[{"id":1}]', '{"id":1', '{"id":1}{"id":2}', 'NaN'])
  test(`the body ${body} is refused with 400`, async (t) => {
    const postern = await startPostern(t);
    for (const name of ['share/get', 'loginprofile/get', 'loginprofile/add'])
      assert.equal((await callRaw(postern, `/api/v1/${name}`, { method: 'POST', headers: jsonHeaders, body })).status, 400, name);
  });

test('a field of the wrong type is refused, never coerced', async (t) => {
  const postern = await startPostern(t);
  const wrong = {
    title: 1,
    canView: 'true',
    active: 1,
    authenticationId: '1',
    folder: 'false',
    description: 5,
    allowAllUsers: 0,
    validityEndDate: 1_700_000_000,
  };
  const answer = await postern.send('share/add', newShare(wrong));
  assert.equal(answer.status, 400);
  assert.deepEqual(fieldErrorsOf(answer), Object.keys(wrong).sort());
  for (const id of ['1', 1.5, true, [1], {}, null, 0, -1, 1e300])
    assert.equal((await postern.send('share/get', { id })).status, 400, JSON.stringify(id));
});

test('an unknown field is refused with its name and a similar known field as a hint', async (t) => {
  const postern = await startPostern(t);
  const answer = await postern.send('share/add', newShare({ canDownlod: true, notifyEmail: 'a@example.com', zzzzzzzzzzzzzzzz: 1 }));
  assert.deepEqual(fieldErrorsOf(answer), ['canDownlod', 'notifyEmail', 'zzzzzzzzzzzzzzzz']);
  assert.match(fieldErrorAt(answer, 'canDownlod'), /\bcanDownload\b/);
  assert.match(fieldErrorAt(answer, 'notifyEmail'), /\bnotifyEmails\b/);
});

test('an unknown query parameter is refused with its name and a similar known one as a hint', async (t) => {
  const postern = await startPostern(t);
  const searchAnswer = await postern.send('share/search', { serchWord: 'x' });
  assert.match(fieldErrorAt(searchAnswer, 'serchWord'), /\bsearchWord\b/);
  const addAnswer = await postern.send('share/add', newShare(), { query: { dryrun: 'true' } });
  assert.equal(addAnswer.status, 400);
  assert.match(fieldErrorAt(addAnswer, 'dryrun'), /\bdryRun\b/);
});

test('an operation that only reads refuses dryRun', async (t) => {
  const postern = await startPostern(t);
  for (const name of ['loginprofile/get', 'loginprofile/search'])
    assert.deepEqual(fieldErrorsOf(await postern.send(name, {}, { query: { dryRun: 'true' } })), ['dryRun'], name);
});

test('a repeated query parameter is refused with its name', async (t) => {
  const postern = await startPostern(t);
  for (const path of [
    '/api/v1/share/search?pageSize=1&pageSize=1',
    '/api/v1/accessuser/search?pageSize=1&pageSize=2',
    '/api/v1/audit/search?pageSize=1&pageSize=2',
  ])
    assert.deepEqual(fieldErrorsOf(await callRaw(postern, path)), ['pageSize']);
  const repeatedParameter = await callRaw(postern, '/api/v1/share/delete?dryRun=true&dryRun=true', {
    method: 'DELETE',
    headers: jsonHeaders,
    body: '{"id":1}',
  });
  assert.deepEqual(fieldErrorsOf(repeatedParameter), ['dryRun']);
});

test('DELETE accepts its fields as query parameters if the request has no body', async (t) => {
  const postern = await startPostern(t);
  const { id } = await postern.call('share/add', newShare());
  assert.equal((await callRaw(postern, `/api/v1/share/delete?id=${id}`, { method: 'DELETE' })).status, 200);
  assert.equal((await postern.send('share/get', { id })).status, 404);
  await postern.call('accessuser/add', { username: '007', active: true, authId: 1 });
  assert.equal(
    (await callRaw(postern, '/api/v1/accessuser/deleteByUsername?username=007&loginProfileId=1', { method: 'DELETE' })).status,
    200,
  );
  assert.deepEqual(fieldErrorsOf(await callRaw(postern, '/api/v1/share/delete?id=x', { method: 'DELETE' })), ['id']);
  assert.deepEqual(fieldErrorsOf(await callRaw(postern, '/api/v1/share/delete?id=1&ids=2', { method: 'DELETE' })), ['ids']);
});

test('a refusal names all invalid fields at once', async (t) => {
  const postern = await startPostern(t);
  const answer = await postern.send(
    'share/add',
    newShare({ location: 'nowhere', authenticationId: 99, validityStartDate: '2026-02-01', validityEndDate: '2026-01-01' }),
  );
  assert.equal(answer.status, 400);
  for (const field of ['location', 'authenticationId', 'validityEndDate']) assert.ok(fieldErrorsOf(answer).includes(field), field);
});

test('__proto__, constructor and toString are refused as unknown fields', async (t) => {
  const postern = await startPostern(t);
  for (const name of ['__proto__', 'constructor', 'toString'])
    assert.deepEqual(
      fieldErrorsOf(
        await callRaw(postern, '/api/v1/share/get', { method: 'POST', headers: jsonHeaders, body: `{"id":1,"${name}":{"x":1}}` }),
      ),
      [name],
    );
});

test('a query parameter named __proto__ is refused as unknown', async (t) => {
  const postern = await startPostern(t);
  assert.deepEqual(fieldErrorsOf(await callRaw(postern, '/api/v1/share/search?__proto__=1')), ['__proto__']);
});

test('a NUL character is refused, and a forged cursor causes no server error', async (t) => {
  const postern = await startPostern(t);
  const profile = await createUsersProfile(postern);
  const { id, base } = await createShare(postern, { authenticationId: profile.id });
  const textWithNul = 'a\0b';
  const signIn = (body: object) => postern.visit(`${base}/sign-in`, { method: 'POST', headers: jsonHeaders, body: JSON.stringify(body) });
  assert.equal((await signIn({ username: textWithNul, password: 'some password' })).status, 400);
  assert.equal((await signIn({ username: 'ann', password: textWithNul })).status, 400);
  const basic = (pair: string) => ({ headers: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` } });
  assert.equal((await postern.visit(`${base}/list`, basic(`${textWithNul}:x`))).status, 401);
  assert.equal((await postern.visit(`${base}/list`, basic(`ann:${textWithNul}`))).status, 401);
  for (const field of ['username', 'email', 'groupNames', 'address']) {
    const refusal = await postern.send('share/explain', { id, [field]: textWithNul });
    assert.equal(refusal.status, 400, field);
    assert.deepEqual(fieldErrorsOf(refusal), [field]);
  }
  const cursor = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');
  for (const [sortField, value] of [
    ['id', 'text'],
    ['title', 5],
    ['createDateTime', 'text'],
    ['id', 1.5],
  ] as const) {
    const after = cursor(sortField, 'asc', value, 1, 1);
    const { status } = await postern.send('share/search', { sortField, after });
    assert.ok(status === 200 || status === 400, `${sortField}: ${status}`);
  }
});
