import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../src/adapters/os/system.ts';
import { codeAt } from '../parts/authenticator-app.ts';
import { passkeyDevice } from '../parts/passkey-device.ts';
import { startPostern, type TestResponse } from '../start.ts';
import { fieldErrorsOf } from './field-errors.ts';

const password = 'a horse that reads maps';
const page = 'https://console.example';
const minute = 60_000; // ms

/** Starts Postern with a clock that the test can change. The admin Olga is signed in. */
async function startWithOlga(t: TestContext) {
  const time = { later: 0 };
  const now = () => systemClock.now() + time.later;
  const postern = await startPostern(t, { replacements: { ports: { clock: { now } } } });
  await postern.call('operator/add', { name: 'Olga', role: 'admin', password, confirmPassword: password });
  const signIn = (fields: object = {}) => postern.send('operator/signIn', { name: 'Olga', password, ...fields }, { key: null });
  const session = await signIn();
  const headers = { cookie: session.headers.getSetCookie()[0]?.split(';')[0] ?? '', origin: postern.apiUrl };
  const call = (name: string, body: object = {}) => postern.send(name, body, { key: null, headers });
  /** Registers a passkey of a device. @param origin of the page where the browser creates it */
  const add = async (device = passkeyDevice(), origin = page) => {
    const { options, challengeToken } = (await call('operator/preparePasskey', { currentPassword: password })).body;
    return call('operator/addPasskey', { challengeToken, credential: device.create(options, origin), title: 'Key' });
  };
  return { postern, time, now, signIn, call, add };
}

/** Starts Postern as `startWithOlga` does, and registers a passkey of Olga. */
async function startWithPasskey(t: TestContext) {
  const olga = await startWithOlga(t);
  const device = passkeyDevice();
  const addAnswer = await olga.add(device);
  assert.equal(addAnswer.status, 200);
  olga.time.later += 1; // ms, so that the challenge of the first sign-in is newer than that of the registration
  const codes: string[] = addAnswer.body.recoveryCodes;
  const begin = async () => (await olga.signIn()).body.passkey;
  return { ...olga, device, codes, begin };
}

const outcome = ({ status, body }: TestResponse) => [status, body.code];

test('an operator with a passkey signs in with the password and the passkey, and with neither alone', async (t) => {
  const { signIn, postern, device } = await startWithPasskey(t);
  const answerWithoutPasskey = await signIn();
  assert.deepEqual(outcome(answerWithoutPasskey), [401, 'secondFactorNeeded']);
  assert.equal(answerWithoutPasskey.headers.getSetCookie().length, 0);
  const { options, challengeToken } = answerWithoutPasskey.body.passkey;
  const passkey = { challengeToken, credential: device.use(options, page) };
  const wrongPassword = await postern.send('operator/signIn', { name: 'Olga', password: 'wrong', passkey }, { key: null });
  assert.deepEqual(outcome(wrongPassword), [401, 'signInWrong']);
  assert.equal((await signIn({ passkey })).status, 200);
});

test('a sign-in with a wrong password does not reveal whether there is a passkey', async (t) => {
  const { postern } = await startWithPasskey(t);
  const answer = await postern.send('operator/signIn', { name: 'Olga', password: 'wrong' }, { key: null });
  assert.deepEqual([...outcome(answer), answer.body.passkey], [401, 'signInWrong', undefined]);
});

test('a signed challenge is accepted only once, even if two sign-ins send it at the same time, and only within five minutes', async (t) => {
  const { signIn, begin, device, time } = await startWithPasskey(t);
  const { options, challengeToken } = await begin();
  const passkey = { challengeToken, credential: device.use(options, page) };
  const both = await Promise.all([signIn({ passkey }), signIn({ passkey })]);
  assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 401]);
  const again = await signIn({ passkey });
  assert.deepEqual(outcome(again), [401, 'secondFactorNeeded']);
  const next = again.body.passkey;
  time.later += 6 * minute;
  const late = await signIn({ passkey: { challengeToken: next.challengeToken, credential: device.use(next.options, page) } });
  assert.deepEqual(outcome(late), [401, 'secondFactorNeeded']);
  const newest = late.body.passkey;
  assert.equal(
    (await signIn({ passkey: { challengeToken: newest.challengeToken, credential: device.use(newest.options, page) } })).status,
    200,
  );
});

test('an expired challenge does not count as a wrong second factor', async (t) => {
  const { signIn, begin, device, time } = await startWithPasskey(t);
  const { options, challengeToken } = await begin();
  const credential = device.use(options, page);
  time.later += 6 * minute;
  for (let attempt = 1; attempt <= 10; attempt += 1)
    assert.deepEqual(outcome(await signIn({ passkey: { challengeToken, credential } })), [401, 'secondFactorNeeded'], `attempt ${attempt}`);
});

test('a passkey of another device, page or challenge, or with malformed data, is refused, and the right one works later', async (t) => {
  const { signIn, begin, device, time } = await startWithPasskey(t);
  type Options = { challenge: string };
  const stranger = passkeyDevice();
  const withReplacedPart = (part: object) => (options: Options) => {
    const { id, response } = device.use(options, page);
    return { id, response: { ...response, ...part } };
  };
  const wrong = {
    'another device': (options: Options) => stranger.use(options, page),
    'the signature of another device': (options: Options) => withReplacedPart(stranger.use(options, page).response)(options),
    'another page': (options: Options) => device.use(options, 'https://console.example.evil.example'),
    'a page without TLS': (options: Options) => device.use(options, 'http://console.example'),
    'another challenge': () => device.use({ challenge: 'AAAA' }, page),
    'client data that is not JSON': withReplacedPart({ clientDataJSON: 'AAAA' }),
    'truncated authenticator data': withReplacedPart({ authenticatorData: 'AAAA' }),
    'an empty signature': withReplacedPart({ signature: 'AA' }),
  };
  for (const [name, credentialOf] of Object.entries(wrong)) {
    time.later += 1;
    const { options, challengeToken } = await begin();
    const refusal = await signIn({ passkey: { challengeToken, credential: credentialOf(options) } });
    assert.deepEqual(outcome(refusal), [401, 'secondFactorWrong'], name);
    assert.equal((await signIn({ passkey: { challengeToken, credential: device.use(options, page) } })).status, 200, name);
  }
});

test('a passkey whose counter does not increase is refused, because it may be a copy', async (t) => {
  const { signIn, begin, device, time } = await startWithPasskey(t);
  const use = async (counter: number) => {
    time.later += 1;
    const { options, challengeToken } = await begin();
    return signIn({ passkey: { challengeToken, credential: device.use(options, page, counter) } });
  };
  assert.equal((await use(5)).status, 200);
  assert.deepEqual(outcome(await use(5)), [401, 'secondFactorWrong']);
  assert.equal((await use(6)).status, 200);
});

test('a passkey is created only with the password, and only for the operator who entered it', async (t) => {
  const { call, postern } = await startWithOlga(t);
  const wrongPasswordAnswer = await call('operator/preparePasskey', { currentPassword: 'another password' });
  assert.deepEqual(outcome(wrongPasswordAnswer), [403, 'currentPasswordWrong']);
  const { options, challengeToken } = (await call('operator/preparePasskey', { currentPassword: password })).body;
  const credential = passkeyDevice().create(options, page);
  await postern.call('operator/add', { name: 'Otto', role: 'admin', password, confirmPassword: password });
  const session = await postern.send('operator/signIn', { name: 'Otto', password }, { key: null });
  const headers = { cookie: session.headers.getSetCookie()[0]?.split(';')[0] ?? '', origin: postern.apiUrl };
  const otherOperatorAnswer = await postern.send('operator/addPasskey', { challengeToken, credential }, { key: null, headers });
  assert.deepEqual([otherOperatorAnswer.status, fieldErrorsOf(otherOperatorAnswer)], [400, ['challengeToken']]);
});

test('a challenge that was issued before a change of the password is refused', async (t) => {
  const { call, postern, signIn } = await startWithOlga(t);
  const { options, challengeToken } = (await call('operator/preparePasskey', { currentPassword: password })).body;
  const { id } = (await call('caller/get')).body;
  const newPassword = 'another horse that reads';
  await postern.call('operator/updatePassword', { id, password: newPassword, confirmPassword: newPassword });
  const session = await signIn({ password: newPassword });
  const headers = { cookie: session.headers.getSetCookie()[0]?.split(';')[0] ?? '', origin: postern.apiUrl };
  const credential = passkeyDevice().create(options, page);
  const answer = await postern.send('operator/addPasskey', { challengeToken, credential }, { key: null, headers });
  assert.deepEqual([answer.status, fieldErrorsOf(answer)], [400, ['challengeToken']]);
});

test('a new passkey is accepted only if it was created for this challenge, over https or at localhost, and without certificates', async (t) => {
  const { call } = await startWithOlga(t);
  const { options, challengeToken } = (await call('operator/preparePasskey', { currentPassword: password })).body;
  const device = passkeyDevice();
  const x5c = Buffer.concat([Buffer.from([0xa1, 0x63]), Buffer.from('x5c'), Buffer.from([0x81, 0x41, 0x00])]);
  const wrong = {
    'a page without TLS': device.create(options, 'http://console.example'),
    'another challenge': device.create({ challenge: 'AAAA' }, page),
    'an attestation with certificates': device.create(options, page, { fmt: 'packed', cbor: x5c }),
    'an unknown attestation': device.create(options, page, { fmt: 'tpm', cbor: Buffer.from([0xa0]) }),
    'the id of another credential': { ...device.create(options, page), id: 'AAAA' },
  };
  for (const [name, credential] of Object.entries(wrong)) {
    const answer = await call('operator/addPasskey', { challengeToken, credential });
    assert.deepEqual([answer.status, fieldErrorsOf(answer)], [400, ['credential']], name);
  }
  const localPageAnswer = await call('operator/addPasskey', {
    challengeToken,
    credential: device.create(options, 'http://localhost:8080'),
  });
  assert.equal(localPageAnswer.status, 200, 'a page of the same machine needs no TLS');
  const secondAnswer = await call('operator/addPasskey', { challengeToken, credential: device.create(options, page) });
  assert.deepEqual([secondAnswer.status, fieldErrorsOf(secondAnswer)], [400, ['credential']], 'the same passkey twice');
});

test('a clock that was ahead at a sign-in does not lock the operator out after it is corrected', async (t) => {
  const { signIn, begin, device, time } = await startWithPasskey(t);
  const day = 24 * 60 * minute;
  time.later += day;
  const { options, challengeToken } = await begin();
  assert.equal((await signIn({ passkey: { challengeToken, credential: device.use(options, page) } })).status, 200);
  time.later -= day;
  const next = await begin();
  const passkey = { challengeToken: next.challengeToken, credential: device.use(next.options, page) };
  assert.equal((await signIn({ passkey })).status, 200);
});

test('an operator with a passkey and an app signs in with either, or with a recovery code instead', async (t) => {
  const { call, codes, signIn, begin, device, now, time } = await startWithPasskey(t);
  const { secret } = (await call('operator/prepareTotp')).body;
  await call('operator/addTotp', { secret, code: codeAt(secret, now()), currentPassword: password });
  time.later += minute;
  assert.equal((await signIn({ code: codeAt(secret, now()) })).status, 200);
  const { options, challengeToken } = await begin();
  assert.equal((await signIn({ passkey: { challengeToken, credential: device.use(options, page) } })).status, 200);
  assert.equal((await signIn({ code: codes[0] })).status, 200);
});

test('the list of second factors and the audit log do not contain the credential id of a passkey', async (t) => {
  const { call, device } = await startWithPasskey(t);
  const { list } = (await call('operator/getSecondFactors')).body;
  assert.deepEqual(
    list.map(({ kind, title }: { kind: string; title: string }) => [kind, title]),
    [['passkey', 'Key']],
  );
  const { id } = device.use({ challenge: '' }, page);
  const texts = [list, (await call('audit/search', { pageSize: 100 })).body];
  assert.equal(JSON.stringify(texts).includes(id), false);
});
