import assert from 'node:assert/strict';
import { open } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { verifiedPasswords } from '#features/visits/sessions/verified-passwords.ts';
import type { PasswordHash } from '#ports/password-hash.ts';
import { atEnd } from '../parts/at-end.ts';
import { until } from '../ports/until.ts';
import { createUsersProfile, signIn, startPostern } from '../start.ts';
import { basicAuthorization, changeShare, createShare, minute, sendPath, settableClock } from './visiting.ts';

const password = 'correct horse battery';

/** Returns a `PasswordHash` that counts verifications. The hash of a password is the password itself, so that the tests are fast. */
function countingHash(): PasswordHash & { verifications: number } {
  return {
    verifications: 0,
    waitingCount: () => 0,
    async hash(secret) {
      return secret;
    },
    async runInTurn(_address, attempt) {
      return attempt(async (hash, secret) => {
        this.verifications += 1;
        return hash === secret;
      });
    },
  };
}

async function startWithBasic(t: TestContext) {
  const clock = settableClock();
  const passwordHash = countingHash();
  const postern = await startPostern(t, { replacements: { ports: { clock, passwordHash } } });
  const profile = await createUsersProfile(postern);
  const { base } = await createShare(postern, { authenticationId: profile.id });
  const request = (headers: Record<string, string>) => sendPath(postern, `${base}/file/welcome.txt`, { headers });
  return {
    clock,
    passwordHash,
    postern,
    profile,
    base,
    request,
    ann: () => request({ authorization: basicAuthorization('ann', password) }),
  };
}

test('Basic authentication signs a program in for each request, without a cookie', async (t) => {
  const { ann, request } = await startWithBasic(t);
  const validAnswer = await ann();
  assert.equal(validAnswer.status, 200);
  assert.equal(validAnswer.headers['set-cookie'], undefined);
  const wrong = await request({ authorization: basicAuthorization('ann', 'wrong') });
  assert.equal(wrong.status, 401);
  assert.equal((await request({ authorization: basicAuthorization('nobody', password) })).status, 401);
  for (const authorization of ['Basic', 'Basic !!!', `Basic ${Buffer.from('nocolon').toString('base64')}`, 'Bearer x'])
    assert.equal((await request({ authorization })).status, 401, authorization);
});

test('a Basic username and password are read as UTF-8, and the password may contain colons', async (t) => {
  const { postern, profile, request } = await startWithBasic(t);
  const secret = 'pässwörd: with:colons €';
  await postern.call('accessuser/add', { username: 'zoë', active: true, authId: profile.id });
  await postern.call('accessuser/updateUserPassword', {
    username: 'zoë',
    userPassword: secret,
    confirmPassword: secret,
    authId: profile.id,
  });
  assert.equal((await request({ authorization: basicAuthorization('zoë', secret) })).status, 200);
});

test('a login profile with a shared password accepts any username, or only its own if it has one', async (t) => {
  const postern = await startPostern(t);
  for (const [username, name, expected] of [
    ['', 'whoever', 200],
    ['', '', 200],
    ['guest', 'guest', 200],
    ['guest', 'other', 401],
  ] as const) {
    const profile = await postern.call('loginprofile/add', { title: 'Door', typeId: 2, username, password: 'open sesame' });
    const { base } = await createShare(postern, { authenticationId: profile.id });
    assert.equal(
      (await sendPath(postern, `${base}/list`, { headers: { authorization: basicAuthorization(name, 'open sesame') } })).status,
      expected,
      name,
    );
  }
});

test('correct credentials are verified once in five minutes', async (t) => {
  const { ann, passwordHash, clock } = await startWithBasic(t);
  await Promise.all(Array.from({ length: 20 }, ann));
  for (let count = 0; count < 20; count += 1) assert.equal((await ann()).status, 200);
  assert.equal(passwordHash.verifications, 1);
  clock.advance(5 * minute);
  assert.equal((await ann()).status, 200);
  assert.equal(passwordHash.verifications, 2);
});

test('a wrong password is refused even if correct credentials of the user are cached', async (t) => {
  const { ann, request } = await startWithBasic(t);
  await ann();
  for (const name of ['ann', 'ANN']) assert.equal((await request({ authorization: basicAuthorization(name, 'wrong') })).status, 401);
});

test('credentials cached for one network do not let another network skip its sign-in delay', async (t) => {
  const postern = await startPostern(t, { environment: { POSTERN_TRUSTED_PROXIES: '127.0.0.1' } });
  const profile = await createUsersProfile(postern);
  const { base } = await createShare(postern, { authenticationId: profile.id });
  const from = (address: string, secret: string) =>
    sendPath(postern, `${base}/list`, { headers: { authorization: basicAuthorization('ann', secret), 'x-forwarded-for': address } });
  assert.equal((await from('198.51.100.7', password)).status, 200);
  for (let time = 0; time < 7; time += 1) await from('203.0.113.7', 'a wrong password');
  assert.equal((await from('203.0.113.7', password)).status, 429);
  assert.equal((await from('198.51.100.7', password)).status, 200);
});

test('cached credentials end when the user is deactivated or deleted, or the password changes', async (t) => {
  const withInactiveUser = await startWithBasic(t);
  assert.equal((await withInactiveUser.ann()).status, 200);
  await withInactiveUser.postern.call('accessuser/update', {
    id: withInactiveUser.profile.users['ann'],
    authId: withInactiveUser.profile.id,
    active: false,
  });
  assert.equal((await withInactiveUser.ann()).status, 401);

  const withNewPassword = await startWithBasic(t);
  assert.equal((await withNewPassword.ann()).status, 200);
  const secret = 'another fine phrase';
  await withNewPassword.postern.call('accessuser/updateUserPassword', {
    username: 'ann',
    userPassword: secret,
    confirmPassword: secret,
    authId: withNewPassword.profile.id,
  });
  assert.equal((await withNewPassword.ann()).status, 401);
  assert.equal((await withNewPassword.request({ authorization: basicAuthorization('ann', secret) })).status, 200);

  const withDeletedUser = await startWithBasic(t);
  assert.equal((await withDeletedUser.ann()).status, 200);
  await withDeletedUser.postern.call('accessuser/delete', { id: withDeletedUser.profile.users['ann'] });
  assert.equal((await withDeletedUser.ann()).status, 401);
});

test('a 401 response offers Basic authentication to a program, but not to a browser', async (t) => {
  const { request } = await startWithBasic(t);
  const challenge = async (headers: Record<string, string>) => (await request(headers)).headers['www-authenticate'];
  for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }, { authorization: basicAuthorization('ann', 'wrong') }])
    assert.match((await challenge(headers)) ?? '', /^Basic realm="[^"]*", charset="UTF-8"$/);
  for (const headers of [
    { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' },
    { 'sec-fetch-mode': 'cors' },
    { 'sec-fetch-mode': 'navigate', accept: '*/*' },
  ])
    assert.equal(await challenge(headers), 'Postern', JSON.stringify(headers));
});

test('a browser that accepts HTML gets the 401 response as a page', async (t) => {
  const { request } = await startWithBasic(t);
  const answer = await request({ accept: 'text/html' });
  assert.equal(answer.status, 401);
  assert.match(answer.headers['content-type'] ?? '', /^text\/html/);
  assert.match(answer.text, /Sign in first/);
});

test('verified credentials are cached only for the session epoch of the login profile', () => {
  const pairs = verifiedPasswords('key of the process');
  const pair = { username: 'ann', password };
  const [before, after] = [1, 2].map((session_epoch) => pairs.keyOf({ profile_id: 1, session_epoch }, pair, '203.0.113.7'));
  assert.notEqual(before, after, 'each session epoch has cache entries of its own');
});

test('a download with Basic authentication continues after its cached credentials expire', async (t) => {
  const clock = settableClock();
  const postern = await startPostern(t, { replacements: { ports: { clock, passwordHash: countingHash() } } });
  const profile = await createUsersProfile(postern);
  const { base } = await createShare(postern, { authenticationId: profile.id });
  const file = await open(join(postern.files, 'large.bin'), 'w');
  await file.truncate(2 ** 32);
  await file.close();
  const headers = { authorization: basicAuthorization('ann', password) };
  assert.equal((await sendPath(postern, `${base}/file/welcome.txt`, { headers })).status, 200); // the credentials are cached from now on
  const response = await new Promise<IncomingMessage>((resolve) => {
    get(`${postern.publicUrl}${base}/file/large.bin`, { headers, agent: false }, resolve);
  });
  atEnd(t, () => response.destroy());
  let failure: unknown;
  response.once('error', (cause) => {
    failure = cause;
  });
  clock.advance(6 * minute);
  const accessChecks = t.mock.method(postern.ports.store, 'cachedUntilChange');
  response.on('data', () => {}); // keeps the download running
  await until(() => accessChecks.mock.callCount() >= 2); // the access was checked again
  await new Promise((resolve) => response.once('data', resolve));
  assert.equal(failure, undefined);
});

for (const [what, over] of Object.entries({
  'the permission to download is removed': { canDownload: false },
  'the share stops admitting the user': { allowAllUsers: false, userNames: '' },
}))
  test(`if ${what} while the password of a request is verified, this request and all later ones are refused`, async (t) => {
    const [verificationStart, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let isHeld = false;
    const originalHash = countingHash();
    const passwordHash: PasswordHash = {
      ...originalHash,
      async runInTurn(address, attempt) {
        if (isHeld) verificationStart.resolve();
        if (isHeld) await gate.promise;
        return originalHash.runInTurn(address, attempt);
      },
    };
    const postern = await startPostern(t, { replacements: { ports: { passwordHash } } });
    const profile = await createUsersProfile(postern);
    const { id, base } = await createShare(postern, { authenticationId: profile.id });
    const file = `${base}/file/welcome.txt`;
    const otherSession = { cookie: await signIn(postern, base, 'ann') };
    assert.equal((await postern.visit(file, { headers: otherSession })).status, 200);

    isHeld = true;
    const request = postern.visit(file, { headers: { authorization: basicAuthorization('ann', profile.password) } });
    await verificationStart.promise;
    await changeShare(postern, id, over);
    gate.resolve();

    assert.equal((await request).status, 403);
    for (const headers of [otherSession, { authorization: basicAuthorization('ann', profile.password) }])
      assert.equal((await postern.visit(file, { headers })).status, 403);
  });
