import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { StoreUnavailable } from '#ports/store.ts';
import { argon2PasswordHash } from '../../src/adapters/os/argon2.ts';
import { createUsersProfile, startPostern, temporaryFolder } from '../start.ts';
import { basicAuthorization, createShare, jsonPostRequest, minute, second, settableClock } from './visiting.ts';

const password = 'open sesame';
const environment = { POSTERN_TRUSTED_PROXIES: '127.0.0.1' };

/** Starts Postern with a share of a password profile. */
async function startWithPassword(t: TestContext, clock = settableClock(), data?: string) {
  const postern = await startPostern(t, { environment, replacements: { ports: { clock } }, ...(data ? { data } : {}) });
  const profile = await postern.call('loginprofile/add', { title: 'Door', typeId: 2, username: 'guest', password });
  const { base } = await createShare(postern, { authenticationId: profile.id });
  const attempt = async (secret: string, { from = '203.0.113.7', username = 'guest', at = base } = {}) => {
    const { status, headers } = await postern.visit(
      `${at}/sign-in`,
      jsonPostRequest({ username, password: secret }, { 'x-forwarded-for': from }),
    );
    return { status, wait: Number(headers.get('retry-after')) };
  };
  return { clock, postern, profile, base, attempt };
}
type PasswordSetup = Awaited<ReturnType<typeof startWithPassword>>;

async function failAttempts({ attempt }: PasswordSetup, times: number, options: object = {}): Promise<void> {
  for (let time = 0; time < times; time += 1) assert.equal((await attempt('wrong', options)).status, 401, `failure ${time + 1}`);
}

test('after five failed sign-ins, each further failure doubles the delay, from one second to five minutes', async (t) => {
  const setup = await startWithPassword(t);
  await failAttempts(setup, 6);
  let expected = 1;
  for (let round = 0; round < 10; round += 1) {
    const refusal = await setup.attempt('wrong');
    assert.equal(refusal.status, 429);
    assert.equal(refusal.wait, expected);
    setup.clock.advance(expected * second - 1);
    assert.equal((await setup.attempt(password)).status, 429, 'an attempt during the delay is not checked');
    setup.clock.advance(1);
    await failAttempts(setup, 1);
    expected = Math.min(300, expected * 2);
  }
});

test('failed sign-ins no longer count after 15 minutes', async (t) => {
  const setup = await startWithPassword(t);
  await failAttempts(setup, 6);
  setup.clock.advance(15 * minute);
  await failAttempts(setup, 6);
  assert.equal((await setup.attempt(password)).status, 429);
});

test('a successful sign-in resets the count of failures', async (t) => {
  const setup = await startWithPassword(t);
  await failAttempts(setup, 5);
  assert.equal((await setup.attempt(password)).status, 200);
  await failAttempts(setup, 6);
  assert.equal((await setup.attempt('wrong')).status, 429);
});

test('a delay for one network does not stop the user from signing in from another network', async (t) => {
  const setup = await startWithPassword(t);
  await failAttempts(setup, 6);
  assert.equal((await setup.attempt(password)).status, 429);
  assert.equal((await setup.attempt(password, { from: '203.0.113.8' })).status, 200);
  assert.equal((await setup.attempt(password, { username: 'GUEST' })).status, 429, 'the same user name in capital letters');
});

test('all addresses of an IPv6 /64 network share one delay', async (t) => {
  const setup = await startWithPassword(t);
  await failAttempts(setup, 6, { from: '2001:db8:1:2::1' });
  assert.equal((await setup.attempt(password, { from: '2001:db8:1:2:ffff::9' })).status, 429);
  assert.equal((await setup.attempt(password, { from: '2001:db8:1:3::1' })).status, 200);
});

test('failed attempts at all shares, at the portal and by HTTP Basic are counted together', async (t) => {
  const setup = await startWithPassword(t);
  const portal = `/p/${setup.profile.viewId}`;
  const secondShare = await createShare(setup.postern, { authenticationId: setup.profile.id });
  await failAttempts(setup, 2);
  await failAttempts(setup, 2, { at: portal });
  const headers = { authorization: basicAuthorization('guest', 'wrong'), 'x-forwarded-for': '203.0.113.7' };
  for (let time = 0; time < 2; time += 1) assert.equal((await setup.postern.visit(`${setup.base}/list`, { headers })).status, 401);
  for (const place of [setup.base, portal, secondShare.base])
    assert.equal((await setup.attempt(password, { at: place })).status, 429, place);
  const validHeaders = { ...headers, authorization: basicAuthorization('guest', password) };
  assert.equal((await setup.postern.visit(`${setup.base}/list`, { headers: validHeaders })).status, 429);
});

test('the delay after failed sign-ins still applies after a restart', async (t) => {
  const [data, clock] = [await temporaryFolder(t), settableClock()];
  const setup = await startWithPassword(t, clock, data);
  await failAttempts(setup, 6);
  await setup.postern.stop();
  const again = await startPostern(t, { environment, data, replacements: { ports: { clock } } });
  const answer = await again.visit(
    `${setup.base}/sign-in`,
    jsonPostRequest({ username: 'guest', password }, { 'x-forwarded-for': '203.0.113.7' }),
  );
  assert.equal(answer.status, 429);
});

test('a malformed sign-in request does not count as a failure', async (t) => {
  const setup = await startWithPassword(t);
  await failAttempts(setup, 5);
  for (const body of [
    {},
    { username: 'guest' },
    { username: 'guest', password: 7 },
    { password: 'x' },
    { username: 'guest', password: 'x', more: 1 },
  ])
    assert.equal(
      (await setup.postern.visit(`${setup.base}/sign-in`, jsonPostRequest(body, { 'x-forwarded-for': '203.0.113.7' }))).status,
      400,
    );
  assert.equal((await setup.attempt(password)).status, 200);
});

test('a network has to wait after more than fifty failed sign-ins, even with different user names', async (t) => {
  const setup = await startWithPassword(t);
  const users = await createUsersProfile(setup.postern);
  const { base } = await createShare(setup.postern, { authenticationId: users.id });
  for (let number = 0; number < 51; number += 1)
    assert.equal((await setup.attempt('wrong', { username: `name${number}`, at: base })).status, 401, `${number}`);
  assert.equal((await setup.attempt(password)).status, 429);
  assert.equal((await setup.attempt(password, { from: '203.0.113.8' })).status, 200);
});

test('a different user name gives no extra attempts at a profile with a single password', async (t) => {
  const setup = await startWithPassword(t);
  for (let number = 0; number < 6; number += 1)
    assert.equal((await setup.attempt('wrong', { username: `name${number}` })).status, 401, `${number}`);
  assert.equal((await setup.attempt('wrong', { username: 'another' })).status, 429);
});

const kinds = [
  ['one password', async (setup: PasswordSetup) => setup.base],
  [
    'users',
    async (setup: PasswordSetup) =>
      (await createShare(setup.postern, { authenticationId: (await createUsersProfile(setup.postern)).id })).base,
  ],
] as const;
for (const [kind, baseOf] of kinds) {
  test(`an attempt during the delay is refused without a write to the database: ${kind}`, async (t) => {
    const setup = await startWithPassword(t);
    const base = await baseOf(setup);
    for (let number = 0; number < 6; number += 1) await setup.attempt('wrong', { at: base });
    t.mock.method(setup.postern.ports.store, 'write', () => Promise.reject(new StoreUnavailable('the database accepts no changes')));
    assert.equal((await setup.attempt('wrong', { at: base })).status, 429);
  });

  test(`of 400 simultaneous attempts, at most six are checked, and the correct one is refused: ${kind}`, async (t) => {
    const setup = await startWithPassword(t);
    const base = await baseOf(setup);
    const guess = (number: number) =>
      setup.attempt(number === 399 ? (kind === 'users' ? 'correct horse battery' : password) : `guess ${number}`, {
        username: kind === 'users' ? 'ann' : `name${number}`,
        at: base,
      });
    const answers = await Promise.all(Array.from({ length: 400 }, (_, number) => guess(number)));
    const checkedCount = answers.filter(({ status }) => status === 401).length;
    assert.ok(checkedCount <= 6, `${checkedCount} attempts are checked`);
    assert.ok(answers.every(({ status }) => [401, 429, 503].includes(status)));
  });
}

for (const [kind, inside, outside] of [
  ['IPv4 /24', (number: number) => `198.51.100.${number}`, '198.51.101.1'],
  ['IPv6 /48', (number: number) => `2001:db8:1:${number.toString(16)}::1`, '2001:db8:2::1'],
] as const)
  test(`after more than 200 failed sign-ins from an ${kind} network, the entire network has to wait`, async (t) => {
    const setup = await startWithPassword(t);
    for (let number = 0; number < 201; number += 1)
      assert.equal((await setup.attempt('wrong', { from: inside(number + 1), username: `name${number}` })).status, 401, `${number}`);
    assert.equal((await setup.attempt(password, { from: inside(250) })).status, 429);
    assert.equal((await setup.attempt(password, { from: outside })).status, 200);
  });

test('each of many simultaneous attempts is counted', async (t) => {
  const setup = await startWithPassword(t);
  const answers = await Promise.all(Array.from({ length: 30 }, () => setup.attempt('wrong')));
  assert.equal(answers.filter(({ status }) => status === 401).length, 6);
  assert.equal(answers.filter(({ status }) => status === 429).length, 24);
});

const crowds: readonly [string, (number: number) => string][] = [
  ['one network', () => '203.0.113.7'],
  ['an IPv6 /48 with many /64 networks', (number) => `2001:db8:1:${number}::1`],
];
for (const [source, addressOf] of crowds)
  test(`while ${source} fills the queue of password checks, another network can still sign in`, async (t) => {
    const passwordHash = argon2PasswordHash();
    const postern = await startPostern(t, { environment, replacements: { ports: { passwordHash } } });
    const { id } = await createUsersProfile(postern);
    const { base } = await createShare(postern, { authenticationId: id });
    const signIn = (from: string, username: string) =>
      postern.visit(`${base}/sign-in`, jsonPostRequest({ username, password: 'correct horse battery' }, { 'x-forwarded-for': from }));
    const crowd = Array.from({ length: 90 }, (_, number) => signIn(addressOf(number), `name${number}`));
    await Promise.any(crowd.map(async (answer) => ((await answer).status === 503 ? true : Promise.reject(new Error())))); // the queue is full
    assert.equal((await signIn('203.0.113.8', 'ann')).status, 200);
    await Promise.all(crowd);
  });

test('when too many password checks are waiting, a further sign-in gets 503 with Retry-After', async (t) => {
  const postern = await startPostern(t, { replacements: { ports: { passwordHash: argon2PasswordHash() } } });
  const { id } = await createUsersProfile(postern, []);
  const { base } = await createShare(postern, { authenticationId: id });
  const requests = Array.from({ length: 90 }, (_, number) =>
    postern.visit(`${base}/sign-in`, jsonPostRequest({ username: `name${number}`, password })),
  );
  const answers = await Promise.all(requests);
  const busy = answers.filter(({ status }) => status === 503);
  assert.ok(busy.length > 0);
  for (const { body, headers } of busy) {
    assert.equal(body.code, 'signInBusy');
    assert.ok(Number(headers.get('retry-after')) >= 1);
  }
  assert.ok(answers.every(({ status }) => [401, 429, 503].includes(status)));
});
