import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { resetOperator } from '#features/operators/reset-operator.ts';
import { countAttempt, pairKey } from '#features/rate-limits/failed-attempts.ts';
import { systemClock } from '../../src/adapters/os/system.ts';
import { until } from '../ports/until.ts';
import { newShare, startPostern, type TestPostern, type TestResponse } from '../start.ts';
import { fieldErrorsOf } from './field-errors.ts';

const password = 'a horse that reads maps';
const secrets = { password, confirmPassword: password };

const tokenIn = (postern: TestPostern) => new URL(postern.firstConsoleUrl ?? '').hash.slice(1);
const cookieOf = (answer: TestResponse) => answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';

/** Returns a function that calls an operation with a session cookie and the origin of this server. */
const asPage =
  (postern: TestPostern, cookie: string) =>
  (name: string, body: object = {}, headers: Record<string, string> = {}) =>
    postern.send(name, body, { key: null, headers: { cookie, origin: postern.apiUrl, ...headers } });

async function firstOperator(t: TestContext) {
  const postern = await startPostern(t);
  const answer = await postern.send('operator/first', { token: tokenIn(postern), name: 'Olga', ...secrets }, { key: null });
  assert.equal(answer.status, 200);
  return { postern, answer, page: asPage(postern, cookieOf(answer)) };
}

const signIn = (postern: TestPostern, name: string, over: object = {}, headers: Record<string, string> = {}) =>
  postern.send('operator/signIn', { name, password, ...over }, { key: null, headers });

test('the one-time console address creates the first operator, an admin, and then expires', async (t) => {
  const { postern, answer } = await firstOperator(t);
  assert.deepEqual([answer.body.name, answer.body.kind, answer.body.role, answer.body.tid], ['Olga', 'operator', 'admin', 1]);
  const again = await postern.send('operator/first', { token: tokenIn(postern), name: 'Eve', ...secrets }, { key: null });
  assert.deepEqual([again.status, again.body.code], [410, 'firstAddressEnded']);
  const list = await postern.call('operator/search');
  assert.deepEqual(
    list.list.map(({ name }: { name: string }) => name),
    ['Olga'],
  );
});

test('the one-time console address expires after an hour, and Postern does not create it if tenant 1 has an admin', async (t) => {
  let later = 0;
  const clock = { now: () => systemClock.now() + later };
  const postern = await startPostern(t, { replacements: { ports: { clock } } });
  later = 3_600_001;
  const late = await postern.send('operator/first', { token: tokenIn(postern), name: 'Olga', ...secrets }, { key: null });
  assert.equal(late.status, 410);
  await postern.call('operator/add', { name: 'Olga', role: 'admin', ...secrets });
  await postern.stop();
  const second = await startPostern(t, { data: postern.data });
  assert.equal(second.firstConsoleUrl, null);
});

test('a signed-in operator can call the operations that the role allows', async (t) => {
  const postern = await startPostern(t);
  await postern.call('operator/add', { name: 'Rita', role: 'reader', ...secrets });
  const page = asPage(postern, cookieOf(await signIn(postern, 'rita')));
  const search = await postern.send('share/search', {}, { key: null, headers: { cookie: cookieOf(await signIn(postern, 'RITA')) } });
  assert.deepEqual([search.status, search.body.canUpload], [200, false]);
  const refusal = await page('share/add', newShare());
  assert.deepEqual([refusal.status, refusal.body.code], [403, 'roleTooLow']);
});

test('the record and the audit log show the name of the operator who made a change', async (t) => {
  const { postern, page } = await firstOperator(t);
  const { id } = (await page('share/add', newShare())).body;
  assert.equal((await postern.call('share/get', { id })).createdOwner, 'Olga');
  const { list } = await postern.call('audit/search', { action: 'share/add' });
  assert.deepEqual([list[0].actor, list[0].actorKind], ['Olga', 'operator']);
});

test('the session cookie is HttpOnly and SameSite=Strict, and over TLS also Secure with the __Host- prefix', async (t) => {
  const { postern, answer } = await firstOperator(t);
  assert.match(answer.headers.getSetCookie()[0] ?? '', /^postern-console=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/);
  const overTls = await signIn(postern, 'Olga', {}, { origin: postern.apiUrl.replace('http:', 'https:') });
  assert.match(overTls.headers.getSetCookie()[0] ?? '', /^__Host-postern-console=.*; Secure/);
});

test('a change with a session is refused unless it comes from a page of this server', async (t) => {
  const { postern, answer } = await firstOperator(t);
  const cookie = cookieOf(answer);
  const send = (headers: Record<string, string>) =>
    postern.send('loginprofile/add', { title: 'Clients' }, { key: null, headers: { cookie, ...headers } });
  for (const headers of [
    {},
    { origin: 'http://elsewhere.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
  ])
    assert.deepEqual([(await send(headers)).status, (await send(headers)).body.code], [403, 'otherSite'], JSON.stringify(headers));
  assert.equal((await send({ origin: postern.apiUrl })).status, 200);
  assert.equal((await send({ 'sec-fetch-site': 'same-origin' })).status, 200);
});

test('a sign-in request from another origin is refused', async (t) => {
  const { postern } = await firstOperator(t);
  assert.equal((await signIn(postern, 'Olga', {}, { origin: 'https://elsewhere.example' })).status, 403);
});

test('a session ends with sign-out', async (t) => {
  const { postern, answer, page } = await firstOperator(t);
  const signOutAnswer = await page('operator/signOut');
  assert.deepEqual([signOutAnswer.status, /Max-Age=0/.test(signOutAnswer.headers.getSetCookie()[0] ?? '')], [204, true]);
  const after = await postern.send('share/search', {}, { key: null, headers: { cookie: cookieOf(answer) } });
  assert.deepEqual([after.status, after.body.code], [401, 'signInNeeded']);
});

test('a session ends after a new password, after its operator is deleted, after 12 hours, and after one idle hour', async (t) => {
  let later = 0;
  const clock = { now: () => systemClock.now() + later };
  const postern = await startPostern(t, { replacements: { ports: { clock } } });
  const { id } = await postern.call('operator/add', { name: 'Olga', role: 'admin', ...secrets });
  await postern.call('operator/add', { name: 'Otto', role: 'admin', ...secrets });
  /** Signs in. @returns a function that sends a request in the session and returns the status */
  const openSession = async () => {
    const cookie = cookieOf(await signIn(postern, 'Olga'));
    return async () => (await postern.send('share/search', {}, { key: null, headers: { cookie } })).status;
  };
  const statusOfIdleSession = await openSession();
  later = 3_600_001;
  assert.equal(await statusOfIdleSession(), 401);
  const statusOfSession = await openSession();
  for (let minutes = 0; minutes < 11 * 60; minutes += 50) {
    later += 50 * 60_000;
    assert.equal(await statusOfSession(), 200);
    const recentUses = postern.ports.store.read
      .selectFrom('operator_session')
      .select('used_at')
      .where('used_at', '>', clock.now() - 60_000);
    await until(async () => (await recentUses.execute()).length > 0);
  }
  later += 3_500_000;
  assert.equal(await statusOfSession(), 401);
  const statusOfEarlierSession = await openSession();
  await postern.call('operator/updatePassword', { id, ...secrets });
  assert.equal(await statusOfEarlierSession(), 401);
  const statusOfLastSession = await openSession();
  await postern.call('operator/delete', { id });
  assert.equal(await statusOfLastSession(), 401);
});

test('an unknown name and a wrong password get the same response, and sign-in attempts are rate limited', async (t) => {
  const { postern } = await firstOperator(t);
  const answers = [];
  for (let count = 0; count < 7; count += 1) answers.push(await signIn(postern, 'Olga', { password: 'wrong wrong wrong' }));
  assert.deepEqual(
    answers.map(({ status }) => status),
    [401, 401, 401, 401, 401, 401, 429],
  );
  assert.ok(Number(answers.at(-1)?.headers.get('retry-after')) >= 1);
  const answerForUnknownName = await signIn(postern, 'Nobody');
  const { timestamp: _a, ...first } = answers[0]?.body ?? {};
  const { timestamp: _b, ...other } = answerForUnknownName.body;
  assert.deepEqual(other, first);
});

test('the reset of a locked-out operator does not end the sign-in delay of an operator with a similar name', async (t) => {
  const postern = await startPostern(t);
  const others = ['annaxb', 'a_na_b c'];
  for (const name of ['A_na_B', ...others]) {
    await postern.call('operator/add', { name, role: 'reader', ...secrets });
    await countAttempt(postern.ports, [pairKey('operator 1', name.toLowerCase(), '192.0.2.1')]);
  }
  await resetOperator(postern.ports, 1, 'a_na_b');
  const rows = await postern.ports.store.read.selectFrom('failure').select('key').orderBy('id').execute();
  assert.deepEqual(
    rows.map(({ key }) => key),
    others.map((name) => pairKey('operator 1', name, '192.0.2.1').key),
  );
});

test('operator names are unique regardless of case; a password must be strong and confirmed', async (t) => {
  const { postern } = await firstOperator(t);
  const add = (over: object) => postern.send('operator/add', { name: 'Otto', role: 'editor', ...secrets, ...over });
  assert.deepEqual([(await add({ name: 'OLGA' })).status, fieldErrorsOf(await add({ name: 'OLGA' }))], [409, ['name']]);
  assert.deepEqual(fieldErrorsOf(await add({ confirmPassword: 'another horse' })), ['confirmPassword']);
  for (const weak of ['short', 'password123', 'otto']) {
    const answer = await add({ password: weak, confirmPassword: weak });
    assert.deepEqual([answer.status, fieldErrorsOf(answer)], [400, ['password']], weak);
  }
  assert.equal((await add({})).status, 200);
});

test('the last operator with the role admin cannot be deleted or get a lower role', async (t) => {
  const { postern, answer } = await firstOperator(t);
  const { id } = answer.body;
  for (const [name, body] of [
    ['operator/delete', { id }],
    ['operator/update', { id, role: 'editor' }],
  ] as const) {
    const refusal = await postern.send(name, body);
    assert.deepEqual([refusal.status, refusal.body.code], [409, 'operatorLast']);
  }
  await postern.call('operator/add', { name: 'Otto', role: 'admin', ...secrets });
  assert.equal((await postern.send('operator/update', { id, role: 'editor', name: 'Olga B.' })).status, 200);
});

test('changing your own password requires the current one; changing the password of others requires the role admin', async (t) => {
  const postern = await startPostern(t);
  const { id: otto } = await postern.call('operator/add', { name: 'Otto', role: 'admin', ...secrets });
  const { id: rita } = await postern.call('operator/add', { name: 'Rita', role: 'reader', ...secrets });
  const page = asPage(postern, cookieOf(await signIn(postern, 'Rita')));
  const newPassword = { password: 'another long secret', confirmPassword: 'another long secret' };
  assert.deepEqual(fieldErrorsOf(await page('operator/updatePassword', { id: rita, ...newPassword })), ['currentPassword']);
  assert.equal((await page('operator/updatePassword', { id: rita, ...newPassword, currentPassword: 'not this one' })).status, 403);
  assert.equal((await page('operator/updatePassword', { id: otto, ...newPassword, currentPassword: password })).status, 403);
  assert.equal((await page('operator/updatePassword', { id: rita, ...newPassword, currentPassword: password })).status, 200);
  assert.equal((await signIn(postern, 'Rita', newPassword.password ? { password: newPassword.password } : {})).status, 200);
});

test('an update of an operator with an outdated If-Match returns 412', async (t) => {
  const { postern, answer, page } = await firstOperator(t);
  const { id } = answer.body;
  const stale = { 'if-match': '"1"' };
  await postern.call('operator/update', { id, name: 'Olga B.' });
  assert.equal((await page('operator/update', { id, name: 'Olga C.' }, stale)).status, 412);
});

test('an operator of another tenant must name the tenant to sign in, and cannot access records of tenant 1', async (t) => {
  const { postern, page } = await firstOperator(t);
  const { id: share } = (await page('share/add', newShare())).body;
  const { id: tid } = (await page('tenant/add', { title: 'Another' })).body;
  assert.equal((await page('operator/add', { name: 'Tina', role: 'admin', tid, ...secrets })).status, 200);
  assert.equal((await signIn(postern, 'Tina')).status, 401);
  const pageOfOtherTenant = asPage(postern, cookieOf(await signIn(postern, 'Tina', { tid })));
  assert.equal((await pageOfOtherTenant('share/get', { id: share })).status, 404);
  assert.equal((await pageOfOtherTenant('operator/add', { name: 'Eve', role: 'admin', tid: 1, ...secrets })).status, 403);
});

test('operator/search and audit/search contain no password and no password hash', async (t) => {
  const { postern } = await firstOperator(t);
  await postern.call('operator/add', { name: 'Otto', role: 'admin', ...secrets });
  const responses = JSON.stringify([await postern.call('operator/search'), await postern.call('audit/search')]);
  assert.doesNotMatch(responses, /argon2|horse/);
});

test('caller/get describes the API key that calls it', async (t) => {
  const postern = await startPostern(t);
  const { status, body } = await postern.send('caller/get');
  assert.deepEqual(
    [status, body.kind, body.name, body.role, body.tenantTitle, body.publicUrl],
    [200, 'key', 'environment', 'admin', 'First tenant', postern.publicUrl],
  );
});
