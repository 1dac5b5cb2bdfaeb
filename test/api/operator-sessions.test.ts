import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { newShare, startPostern, type TestPostern, type TestResponse } from '../start.ts';
import { addKey } from './keys.ts';

const password = 'a horse that reads maps';
const secrets = { password, confirmPassword: password };
const cookieOf = (answer: TestResponse) => answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
const signIn = (postern: TestPostern, name: string, headers: Record<string, string> = {}, secret = password) =>
  postern.send('operator/signIn', { name, password: secret }, { key: null, headers });

async function startWithOperator(t: TestContext, role = 'admin') {
  const postern = await startPostern(t);
  const { id } = await postern.call('operator/add', { name: 'Olga', role, ...secrets });
  await postern.call('operator/add', { name: 'Otto', role: 'admin', ...secrets });
  return { postern, id: Number(id), cookie: cookieOf(await signIn(postern, 'Olga')) };
}

/** Sends a request body in two parts, and runs `between` while the server waits for the second part. Returns the status code. */
async function sendInTwoParts(
  postern: TestPostern,
  headers: string[],
  body: string,
  between: () => Promise<unknown>,
  name = 'loginprofile/add',
): Promise<string> {
  const { host, hostname, port } = new URL(postern.apiUrl);
  const socket = connect(Number(port), hostname);
  const lines = [`POST /api/v1/${name} HTTP/1.1`, `Host: ${host}`, 'Content-Type: application/json', 'Connection: close'];
  socket.write(`${[...lines, `Content-Length: ${body.length}`, ...headers].join('\r\n')}\r\n\r\n${body.slice(0, 4)}`);
  await new Promise((resolve) => socket.once('connect', resolve));
  await between();
  socket.write(body.slice(4));
  let answer = '';
  for await (const chunk of socket) answer += chunk;
  return answer.split(' ')[1] ?? '';
}

for (const [what, between] of Object.entries({
  'is signed out': (postern: TestPostern, { cookie }: { cookie: string }) =>
    postern.send('operator/signOut', {}, { key: null, headers: { cookie, origin: postern.apiUrl } }),
  'gets a new password': (postern: TestPostern, { id }: { id: number }) => postern.call('operator/updatePassword', { id, ...secrets }),
  'is deleted': (postern: TestPostern, { id }: { id: number }) => postern.call('operator/delete', { id }),
  'gets a lower role': (postern: TestPostern, { id }: { id: number }) => postern.call('operator/update', { id, role: 'reader' }),
}))
  test(`an operator who ${what} while the request body is still arriving changes nothing`, async (t) => {
    const { postern, ...operator } = await startWithOperator(t);
    const headers = [`Cookie: ${operator.cookie}`, `Origin: ${postern.apiUrl}`];
    const status = await sendInTwoParts(postern, headers, '{"title":"Backdoor"}', () => between(postern, operator));
    assert.ok(['401', '403'].includes(status), status);
    assert.equal((await postern.call('loginprofile/search', { searchWord: 'backdoor' })).totalCount, 0);
  });

test('a key that is deleted while the request body is still arriving changes nothing', async (t) => {
  const postern = await startPostern(t);
  const key = await addKey(postern, 'admin');
  const [{ id }] = (await postern.call('apikey/search', { searchWord: 'admin key' })).list;
  const status = await sendInTwoParts(postern, [`Authorization: Bearer ${key}`], '{"title":"Backdoor"}', () =>
    postern.call('apikey/delete', { id }),
  );
  assert.equal(status, '401');
});

test('a key that is deleted while the request body is still arriving reads nothing', async (t) => {
  const postern = await startPostern(t);
  const { id: shareId } = await postern.call('share/add', newShare());
  const body = JSON.stringify({ id: shareId });
  const statusOf = async (between: (keyId: number) => Promise<unknown>) => {
    const key = await addKey(postern, 'admin');
    const [{ id }] = (await postern.call('apikey/search', { searchWord: 'admin key' })).list;
    return sendInTwoParts(postern, [`Authorization: Bearer ${key}`], body, () => between(id), 'share/get');
  };
  assert.equal(await statusOf((id) => postern.call('apikey/delete', { id })), '401');
  assert.equal(await statusOf(async () => {}), '200');
});

test('over TLS, a session cookie without the __Host- prefix is not accepted', async (t) => {
  const { postern, cookie } = await startWithOperator(t);
  const withPlainCookie = await postern.send(
    'share/search',
    {},
    { key: null, headers: { cookie, origin: postern.apiUrl.replace('http:', 'https:') } },
  );
  assert.equal(withPlainCookie.status, 401);
});

test('sign-out ends every session whose cookie the browser sends, and sign-in ends the previous session', async (t) => {
  const { postern, cookie } = await startWithOperator(t);
  const search = async (cookies: string) => (await postern.send('share/search', {}, { key: null, headers: { cookie: cookies } })).status;
  const second = cookieOf(await signIn(postern, 'Olga', { cookie }));
  assert.deepEqual([await search(cookie), await search(second)], [401, 200]);
  const third = cookieOf(await signIn(postern, 'Olga', { origin: postern.apiUrl.replace('http:', 'https:') }));
  assert.match(third, /^__Host-/);
  const signOutAnswer = await postern.send('operator/signOut', {}, { key: null, headers: { cookie: `${third}; ${second}` } });
  assert.equal(signOutAnswer.headers.getSetCookie().length, 2);
  assert.deepEqual([await search(second), await search(third)], [401, 401]);
});

test('after sign-in over TLS, a change from a plain HTTP page or a cross-site page is refused', async (t) => {
  const { postern } = await startWithOperator(t);
  const httpsOrigin = postern.apiUrl.replace('http:', 'https:');
  const cookie = cookieOf(await signIn(postern, 'Olga', { origin: httpsOrigin }));
  const send = async (headers: Record<string, string>) =>
    (await postern.send('loginprofile/add', {}, { key: null, headers: { cookie, ...headers } })).status;
  assert.equal(await send({ origin: postern.apiUrl }), 403);
  assert.equal(await send({ origin: httpsOrigin, 'sec-fetch-site': 'cross-site' }), 403);
  assert.equal(await send({ origin: httpsOrigin.replace('https:', 'ftp:') }), 403);
  assert.equal(await send({ origin: httpsOrigin.replace('//', '//user@') }), 403);
  assert.equal(await send({ origin: httpsOrigin, 'sec-fetch-site': 'same-origin' }), 200);
});

test('a wrong current password counts as a failed sign-in attempt, even in a dry run', async (t) => {
  const { postern, id, cookie } = await startWithOperator(t, 'reader');
  const guess = async (currentPassword: string) =>
    postern.send(
      'operator/updatePassword',
      { id, password: 'another long secret', confirmPassword: 'another long secret', currentPassword },
      { key: null, headers: { cookie, origin: postern.apiUrl }, query: { dryRun: 'true' } },
    );
  const statuses = [];
  for (let count = 0; count < 7; count += 1) statuses.push((await guess('not this one')).status);
  assert.deepEqual(statuses, [403, 403, 403, 403, 403, 403, 429]);
  assert.equal((await signIn(postern, 'Olga')).status, 429);
});

test('the audit log records sign-outs and refused sign-ins', async (t) => {
  const { postern, cookie } = await startWithOperator(t);
  await signIn(postern, 'Olga', {}, 'not this one');
  await postern.send('operator/signOut', {}, { key: null, headers: { cookie } });
  const rows = async (action: string) => (await postern.call('audit/search', { action, sortOrder: 'desc' })).list;
  const [refusedSignIn] = await rows('operator/signIn');
  assert.deepEqual([refusedSignIn.outcome, JSON.parse(refusedSignIn.after)], ['refused', { because: 'signInWrong', name: 'Olga' }]);
  const [signOutEntry] = await rows('operator/signOut');
  assert.deepEqual([signOutEntry.actor, signOutEntry.outcome], ['Olga', 'done']);
});

test('the fingerprint of an idempotent request is not a plain hash, so no password can be guessed from it', async (t) => {
  const { postern } = await startWithOperator(t);
  const body = { name: 'Rita', role: 'reader', ...secrets };
  await postern.call('operator/add', body, { headers: { 'idempotency-key': 'one' } });
  const { fingerprint } = await postern.ports.store.read.selectFrom('idempotency').select('fingerprint').executeTakeFirstOrThrow();
  const text = new TextEncoder().encode(`POST\n/api/v1/operator/add\n${JSON.stringify(body)}`);
  const plain = Buffer.from(await crypto.subtle.digest('SHA-256', text)).toString('base64url');
  assert.notEqual(fingerprint, plain);
  const again = await postern.send('operator/add', body, { headers: { 'idempotency-key': 'one' } });
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
});

test('an update cannot move an operator to another tenant or clear the name or role', async (t) => {
  const { postern, id } = await startWithOperator(t);
  for (const [field, body] of [
    ['tid', { id, tid: 2 }],
    ['name', { id, name: null }],
    ['role', { id, role: null }],
  ] as const) {
    const answer = await postern.send('operator/update', body);
    assert.deepEqual([answer.status, answer.body.errors?.[0]?.field], [400, field]);
  }
});

test('two concurrent requests that set the same password both succeed', async (t) => {
  const { postern, id } = await startWithOperator(t);
  const setPassword = () => postern.send('operator/updatePassword', { id, ...secrets });
  assert.deepEqual(
    (await Promise.all([setPassword(), setPassword()])).map(({ status }) => status),
    [200, 200],
  );
});

test('the one-time console address stays valid while tenant 1 has no operator with the role admin', async (t) => {
  const postern = await startPostern(t);
  await postern.call('operator/add', { name: 'Rita', role: 'reader', ...secrets });
  const token = new URL(postern.firstConsoleUrl ?? '').hash.slice(1);
  assert.equal((await postern.send('operator/first', { token, name: 'Olga', ...secrets }, { key: null })).status, 200);
});

test('/console accepts only GET and HEAD, and a missing asset is not cached', async (t) => {
  const postern = await startPostern(t);
  const post = await fetch(`${postern.apiUrl}/console`, { method: 'POST' });
  assert.deepEqual([post.status, post.headers.get('allow')], [405, 'GET, HEAD']);
  const missing = await fetch(`${postern.apiUrl}/console/assets/nope.js`);
  assert.deepEqual([missing.status, missing.headers.get('x-content-type-options')], [404, 'nosniff']);
  assert.match(missing.headers.get('cache-control') ?? '', /no-store/);
  const page = await fetch(`${postern.apiUrl}/console/shares`);
  assert.match(page.headers.get('content-security-policy') ?? '', /script-src [^;]*\/console\/assets\/;/);
});
