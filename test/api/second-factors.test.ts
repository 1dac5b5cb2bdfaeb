import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { totp } from '../../src/adapters/identity/totp.ts';
import { systemClock } from '../../src/adapters/os/system.ts';
import { codeAt } from '../parts/authenticator-app.ts';
import { startPostern, type TestPostern, type TestResponse } from '../start.ts';
import { fieldErrorsOf } from './field-errors.ts';

const password = 'a horse that reads maps';
const step = 30_000; // ms

const cookieOf = (answer: TestResponse) => answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
const signIn = (postern: TestPostern, name: string, code?: string) =>
  postern.send('operator/signIn', { name, password, ...(code === undefined ? {} : { code }) }, { key: null });

/** Returns a function that calls an operation with a session cookie and the origin of this server. */
const consoleCaller =
  (postern: TestPostern, session: TestResponse) =>
  (name: string, body: object = {}) =>
    postern.send(name, body, { key: null, headers: { cookie: cookieOf(session), origin: postern.apiUrl } });

/** Starts Postern with the admin Olga, and a clock that the test can change. */
async function startWithOlga(t: TestContext) {
  const time = { shift: 0 }; // ms
  const now = () => systemClock.now() + time.shift;
  const environment = { POSTERN_TRUSTED_PROXIES: '127.0.0.1, ::1' };
  const postern = await startPostern(t, { environment, replacements: { ports: { clock: { now } } } });
  const { id } = await postern.call('operator/add', { name: 'Olga', role: 'admin', password, confirmPassword: password });
  return { postern, id, time, now };
}

/** Starts Postern as `startWithOlga` does, and adds an authenticator app to Olga's account. */
async function startWithApp(t: TestContext) {
  const olga = await startWithOlga(t);
  const call = consoleCaller(olga.postern, await signIn(olga.postern, 'Olga'));
  const { secret } = (await call('operator/prepareTotp')).body;
  const response = await call('operator/addTotp', { secret, code: codeAt(secret, olga.now()), currentPassword: password });
  assert.equal(response.status, 200);
  olga.time.shift += step; // each code works once
  const codes: string[] = response.body.recoveryCodes;
  return { ...olga, call, secret, codes, code: () => codeAt(secret, olga.now()) };
}

test('the codes of an app are the last six digits of the test vectors of RFC 6238', () => {
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'; // the text 12345678901234567890 of appendix B of the RFC, in base32
  for (const [seconds, code] of [
    [59, '287082'],
    [1_111_111_109, '081804'],
    [20_000_000_000, '353130'],
  ] as const) {
    assert.equal(codeAt(secret, seconds * 1000), code);
    assert.equal(totp().stepOf(secret, code, seconds * 1000), Math.floor(seconds / 30));
  }
});

test('an operator with an authenticator app signs in with the password and a code, and with neither alone', async (t) => {
  const { postern, code } = await startWithApp(t);
  const answerWithoutCode = await signIn(postern, 'Olga');
  assert.deepEqual([answerWithoutCode.status, answerWithoutCode.body.code], [401, 'secondFactorNeeded']);
  assert.equal(answerWithoutCode.headers.getSetCookie().length, 0);
  const wrongPassword = await postern.send('operator/signIn', { name: 'Olga', password: 'wrong password', code: code() }, { key: null });
  assert.deepEqual([wrongPassword.status, wrongPassword.body.code], [401, 'signInWrong']);
  const [first, second] = [code().slice(0, 3), code().slice(3)];
  assert.equal((await signIn(postern, 'Olga', `${first} ${second}`)).status, 200);
});

test('a code works only once, even if two sign-ins send it at the same time', async (t) => {
  const { postern, code } = await startWithApp(t);
  const both = await Promise.all([signIn(postern, 'Olga', code()), signIn(postern, 'Olga', code())]);
  assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 401]);
  const reuse = await signIn(postern, 'Olga', code());
  assert.deepEqual([reuse.status, reuse.body.code], [401, 'secondFactorWrong']);
});

test('the clock of the phone may be half a minute ahead or behind, and no more', async (t) => {
  const { postern, secret, now, time } = await startWithApp(t);
  time.shift += 10 * step;
  assert.equal((await signIn(postern, 'Olga', codeAt(secret, now() - 2 * step))).status, 401);
  assert.equal((await signIn(postern, 'Olga', codeAt(secret, now() - step))).status, 200);
  assert.equal((await signIn(postern, 'Olga', codeAt(secret, now() + 2 * step))).status, 401);
  assert.equal((await signIn(postern, 'Olga', codeAt(secret, now() + step))).status, 200);
});

test('each recovery code works once instead of the second factor, and new codes invalidate the old ones', async (t) => {
  const { postern, codes, call } = await startWithApp(t);
  assert.equal(new Set(codes).size, 10);
  const [first = '', second = ''] = codes;
  assert.equal((await signIn(postern, 'Olga', first)).status, 200);
  assert.equal((await signIn(postern, 'Olga', first)).status, 401);
  assert.equal((await call('operator/getSecondFactors')).body.recoveryCodesLeft, 9);
  const renewal = await call('operator/renewRecoveryCodes', { currentPassword: password });
  assert.equal((await signIn(postern, 'Olga', second)).status, 401);
  assert.equal((await signIn(postern, 'Olga', renewal.body.recoveryCodes[0].replace('-', ''))).status, 200);
});

test('wrong codes from many networks delay further attempts, and the right code works afterwards', async (t) => {
  const { postern, code, time } = await startWithApp(t);
  const statuses: number[] = [];
  for (let number = 0; number < 8; number += 1) {
    const headers = { 'x-forwarded-for': `10.${number}.0.1` };
    const answer = await postern.send('operator/signIn', { name: 'Olga', password, code: '000000' }, { key: null, headers });
    statuses.push(answer.status);
  }
  assert.deepEqual([statuses.slice(0, 5), statuses.includes(429)], [[401, 401, 401, 401, 401], true]);
  time.shift += 16 * 60_000;
  assert.equal((await signIn(postern, 'Olga', code())).status, 200);
});

test('a stolen session cannot change second factors, because that requires the password', async (t) => {
  const { call, secret, code } = await startWithApp(t);
  const { list } = (await call('operator/getSecondFactors')).body;
  const wrong = { currentPassword: 'another password' };
  for (const [name, body] of [
    ['operator/addTotp', { secret, code: code(), ...wrong }],
    ['operator/renewRecoveryCodes', wrong],
    ['operator/deleteSecondFactor', { id: list[0].id, ...wrong }],
  ] as const) {
    const answer = await call(name, body);
    assert.deepEqual([answer.status, answer.body.code], [403, 'currentPasswordWrong'], name);
  }
});

test('an authenticator app is added only with the code that it currently shows', async (t) => {
  const { postern, now } = await startWithOlga(t);
  const call = consoleCaller(postern, await signIn(postern, 'Olga'));
  const { secret, uri } = (await call('operator/prepareTotp')).body;
  assert.match(uri, new RegExp(`^otpauth://totp/Postern:Olga\\?.*secret=${secret}`));
  const wrong = await call('operator/addTotp', { secret, code: codeAt(secret, now() + 5 * step), currentPassword: password });
  assert.deepEqual([wrong.status, fieldErrorsOf(wrong)], [400, ['code']]);
  assert.equal((await signIn(postern, 'Olga')).status, 200);
});

test('an authenticator app is added once, even if the request is sent several times at once', async (t) => {
  const { postern, now } = await startWithOlga(t);
  const call = consoleCaller(postern, await signIn(postern, 'Olga'));
  const { secret } = (await call('operator/prepareTotp')).body;
  const body = { secret, code: codeAt(secret, now()), currentPassword: password };
  const answers = await Promise.all([1, 2, 3].map(() => call('operator/addTotp', body)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400, 400]);
  const refusedAnswer = answers.find(({ status }) => status === 400);
  assert.deepEqual(refusedAnswer && fieldErrorsOf(refusedAnswer), ['secret']);
  assert.equal((await call('operator/getSecondFactors')).body.list.length, 1);
});

test("operator/deleteSecondFactor removes only the caller's own second factors", async (t) => {
  const { postern, call } = await startWithApp(t);
  const [factor] = (await call('operator/getSecondFactors')).body.list;
  await postern.call('operator/add', { name: 'Otto', role: 'admin', password, confirmPassword: password });
  const otto = consoleCaller(postern, await signIn(postern, 'Otto'));
  const answer = await otto('operator/deleteSecondFactor', { id: factor.id, currentPassword: password });
  assert.deepEqual([answer.status, answer.body.code], [404, 'recordUnknown']);
  assert.equal((await call('operator/getSecondFactors')).body.list.length, 1);
});

test('a dry run of adding an app adds nothing and shows no recovery codes', async (t) => {
  const { postern, now } = await startWithOlga(t);
  const session = await signIn(postern, 'Olga');
  const call = consoleCaller(postern, session);
  const { secret } = (await call('operator/prepareTotp')).body;
  const headers = { cookie: cookieOf(session), origin: postern.apiUrl };
  const body = { secret, code: codeAt(secret, now()), currentPassword: password };
  const answer = await postern.send('operator/addTotp', body, { key: null, headers, query: { dryRun: 'true' } });
  assert.deepEqual([answer.status, answer.body.dryRun, answer.body.recoveryCodes], [200, true, undefined]);
  assert.deepEqual((await call('operator/getSecondFactors')).body.list, []);
});

test('after the last second factor is removed, the password is enough again and recovery codes are gone', async (t) => {
  const { postern, call, now } = await startWithApp(t);
  const { list } = (await call('operator/getSecondFactors')).body;
  const start = now();
  assert.equal((await call('operator/deleteSecondFactor', { id: list[0].id, currentPassword: password })).status, 200);
  const [olga] = (await postern.call('operator/search', { searchWord: 'Olga' })).list;
  assert.ok(Date.parse(olga.updateDateTime) >= start - 1000, 'the record of the operator has changed');
  assert.deepEqual((await call('operator/getSecondFactors')).body, { list: [], recoveryCodesLeft: 0, required: false });
  assert.equal((await signIn(postern, 'Olga')).status, 200);
});

test('if the policy requires a second factor, an operator without one must add it first, and nobody can remove their last one', async (t) => {
  const { postern, now } = await startWithOlga(t);
  const earlierSession = consoleCaller(postern, await signIn(postern, 'Olga'));
  await postern.call('tenant/updatePolicy', { secondFactorRequired: true });
  const session = await signIn(postern, 'Olga');
  assert.equal(session.body.lacksSecondFactor, true);
  const call = consoleCaller(postern, session);
  for (const page of [earlierSession, call])
    for (const name of ['share/search', 'operator/add', 'audit/export']) {
      const answer = await page(name);
      assert.deepEqual([answer.status, answer.body.code], [403, 'secondFactorMissing'], name);
    }
  const { secret } = (await call('operator/prepareTotp')).body;
  assert.equal((await call('operator/addTotp', { secret, code: codeAt(secret, now()), currentPassword: password })).status, 200);
  assert.equal((await call('share/search')).status, 200);
  const { list } = (await call('operator/getSecondFactors')).body;
  const removal = await call('operator/deleteSecondFactor', { id: list[0].id, currentPassword: password });
  assert.deepEqual([removal.status, removal.body.code], [409, 'secondFactorLast']);
});

test('an admin can remove the second factors of an operator who has lost them, and the sessions of that operator end', async (t) => {
  const { postern, id, call } = await startWithApp(t);
  await postern.call('operator/resetSecondFactors', { id });
  assert.equal((await call('share/search')).status, 401);
  assert.equal((await signIn(postern, 'Olga')).status, 200);
});

test('the etag of an operator changes when the first second factor is added and when the last one is removed', async (t) => {
  const { postern, id, now } = await startWithOlga(t);
  const call = consoleCaller(postern, await signIn(postern, 'Olga'));
  const etag = async () => (await postern.call('operator/search')).list[0].etag;
  const etags = [await etag()];
  const { secret } = (await call('operator/prepareTotp')).body;
  await call('operator/addTotp', { secret, code: codeAt(secret, now()), currentPassword: password });
  etags.push(await etag());
  await postern.call('operator/resetSecondFactors', { id });
  etags.push(await etag());
  assert.equal(new Set(etags).size, 3, etags.join());
});

test('API keys have no second factor, and need none even if the policy requires a second factor', async (t) => {
  const { postern } = await startWithOlga(t);
  await postern.call('tenant/updatePolicy', { secondFactorRequired: true });
  assert.equal((await postern.send('operator/getSecondFactors')).status, 403);
  assert.equal((await postern.send('share/search')).status, 200);
});

test('getSecondFactors, operator/search and the audit log contain neither the secret of an app nor a recovery code', async (t) => {
  const { postern, secret, codes, call } = await startWithApp(t);
  const texts = [await call('operator/getSecondFactors'), await call('operator/search'), await call('audit/search', { pageSize: 100 })];
  const text = JSON.stringify(texts.map(({ body }) => body));
  assert.ok(text.includes('operator/addTotp'));
  assert.deepEqual([text.includes(secret), codes.some((code) => text.includes(code))], [false, false]);
  assert.equal((await postern.send('operator/getSecondFactors', {}, { key: null })).status, 401);
});
