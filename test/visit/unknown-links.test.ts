import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createUnknownLinks } from '../../src/http/visitor/unknown-links.ts';
import { atEnd } from '../parts/at-end.ts';
import { recordStatements } from '../parts/statements.ts';
import { createUsersProfile, signIn, startPostern } from '../start.ts';
import { basicAuthorization, createShare, minute, sendPath, settableClock } from './visiting.ts';

const from = (address: string, headers: Record<string, string> = {}) => ({ headers: { 'x-forwarded-for': address, ...headers } });
const prober = '203.0.113.7';

/** Starts Postern, creates two shares, signs ann in at one of them, and requests sixty unknown links from one network. */
async function startAndProbe(t: TestContext) {
  const clock = settableClock();
  clock.advance(minute - (clock.now() % minute)); // the start of a minute, so that all requests are in the same minute
  const postern = await startPostern(t, { environment: { POSTERN_TRUSTED_PROXIES: '127.0.0.1' }, replacements: { ports: { clock } } });
  const profile = await createUsersProfile(postern);
  const [openShare, protectedShare] = [await createShare(postern), await createShare(postern, { authenticationId: profile.id })];
  const cookie = await signIn(postern, protectedShare.base, 'ann');
  for (let number = 0; number < 60; number += 1)
    assert.equal((await sendPath(postern, `/s/unknownlink${number}/visit`, from(prober))).status, 404);
  const status = async (path: string, headers: Record<string, string> = {}) =>
    (await sendPath(postern, path, from(prober, headers))).status;
  return { clock, postern, profile, openShare, protectedShare, cookie, status };
}

test('after sixty requests for unknown links in a minute, a network gets 429 from every link', async (t) => {
  const { postern, openShare, protectedShare, status, profile } = await startAndProbe(t);
  for (const path of [
    '/s/unknownlink/visit',
    `${openShare.base}/visit`,
    openShare.base,
    `${openShare.base}/list`,
    `${protectedShare.base}/visit`,
    `/p/${profile.viewId}/visit`,
  ])
    assert.equal(await status(path), 429, path);
  const answer = await sendPath(postern, `${openShare.base}/visit`, from(prober));
  assert.ok(Number(answer.headers['retry-after']) >= 1);
  assert.ok(Number(answer.headers['retry-after']) <= 60);
  assert.equal((await sendPath(postern, `${openShare.base}/visit`, from('203.0.113.8'))).status, 200, 'another network is not refused');
});

test('a rate-limited network can open links again when the minute has ended', async (t) => {
  const { clock, openShare, status } = await startAndProbe(t);
  clock.advance(minute);
  assert.equal(await status(`${openShare.base}/visit`), 200);
});

test('a valid session or password still opens a link from a rate-limited network', async (t) => {
  const { protectedShare, cookie, status } = await startAndProbe(t);
  assert.equal(await status(`${protectedShare.base}/list`, { cookie }), 200);
  assert.equal(await status(`${protectedShare.base}/list`, { authorization: basicAuthorization('ann', 'correct horse battery') }), 200);
});

test('session cookies of a rate-limited request are looked up in at most four tenants, each only in the tenant that it names', async (t) => {
  const statements = recordStatements(t);
  const { protectedShare, cookie, status } = await startAndProbe(t);
  const token = 'a'.repeat(43);
  const inventedCookies = Array.from({ length: 150 }, (_, number) => `postern-${number + 100}=${number + 2}.${token}`);
  const malformedCookies = Array.from({ length: 400 }, (_, number) => `postern-${number + 2000}=${number + 2}.`);
  assert.equal(await status(`${protectedShare.base}/list`, { cookie: [cookie, ...inventedCookies].join('; ') }), 200);
  const lookups = [...statements].filter((sql) => sql.includes('"visit_session"'));
  assert.equal(Math.max(...lookups.map((sql) => sql.split('"tid" =').length - 1)), 4);
  assert.ok(!lookups.some((sql) => /"tid" in/.test(sql)), 'no query combines the tenant of one cookie with the token of another');
  statements.clear();
  assert.equal(await status(`${protectedShare.base}/list`, { cookie: malformedCookies.join('; ') }), 429);
  assert.ok(![...statements].some((sql) => sql.includes('"visit_session"')), 'a malformed token needs no lookup');
});

test('a rate-limited network gets only a few password checks per minute', async (t) => {
  const { protectedShare, status } = await startAndProbe(t);
  for (let number = 0; number < 5; number += 1)
    assert.equal(await status(`/s/unknownlink${number}/list`, { authorization: basicAuthorization(`u${number}`, 'wrong') }), 429);
  const validPassword = { authorization: basicAuthorization('ann', 'correct horse battery') };
  assert.equal(await status(`${protectedShare.base}/list`, validPassword), 429, 'no password check is left for this minute');
});

test('a link that does not admit the visitor of a valid session answers 429 to a rate-limited network', async (t) => {
  const { postern, profile, cookie, status } = await startAndProbe(t);
  const closedShare = await createShare(postern, { authenticationId: profile.id, allowAllUsers: false, userNames: '' });
  assert.equal(await status(`${closedShare.base}/visit`, { cookie }), 429);
});

test('a valid session opens only links of its own login profile from a rate-limited network', async (t) => {
  const { postern, openShare, cookie, status } = await startAndProbe(t);
  assert.equal(await status('/s/unknownlink/visit', { cookie }), 429);
  assert.equal(await status(`${openShare.base}/visit`, { cookie }), 429);
  const otherProfile = await createUsersProfile(postern, ['bob'], { title: 'Others' });
  const { base } = await createShare(postern, { authenticationId: otherProfile.id });
  assert.equal(await status(`${base}/visit`, { cookie }), 429);
});

test('a rate-limited request without a password and without a valid session of the login profile of the link does not look up the link', async (t) => {
  const { postern, profile, openShare, protectedShare, cookie, status } = await startAndProbe(t);
  const otherProfile = await createUsersProfile(postern, ['bob'], { title: 'Others' });
  const elsewhere = await createShare(postern, { authenticationId: otherProfile.id });
  const { mock } = t.mock.method(postern.ports.store, 'cachedUntilChange');
  const countLookups = () => mock.calls.filter(({ arguments: [key] }) => key.startsWith('link ')).length;
  for (const base of [openShare.base, protectedShare.base, elsewhere.base, `/p/${profile.viewId}`]) {
    assert.equal(await status(`${base}/visit`, { cookie: 'a=b' }), 429);
    assert.equal(await status(`${base}/visit`, { cookie: `postern-${profile.id}=1.made-up; postern-${otherProfile.id}=made-up` }), 429);
  }
  for (const base of [openShare.base, elsewhere.base]) assert.equal(await status(`${base}/visit`, { cookie }), 429);
  assert.equal(countLookups(), 0);
  assert.equal(await status(`${protectedShare.base}/visit`, { cookie }), 200);
  assert.ok(countLookups() > 0);
});

test('a wrong password does not open a link from a rate-limited network', async (t) => {
  const { protectedShare, status } = await startAndProbe(t);
  assert.equal(await status(`${protectedShare.base}/list`, { authorization: basicAuthorization('ann', 'wrong') }), 429);
  assert.equal(await status('/s/unknownlink/visit', { authorization: basicAuthorization('ann', 'wrong') }), 429);
});

test('an invented password does not open a link without sign-in from a rate-limited network', async (t) => {
  const { openShare, status } = await startAndProbe(t);
  for (const path of ['/visit', '/list', ''])
    assert.equal(await status(openShare.base + path, { authorization: basicAuthorization('made', 'up') }), 429, path);
});

test('an expired link answers 429 to an invented password from a rate-limited network', async (t) => {
  const { postern, protectedShare, status } = await startAndProbe(t);
  const share = await postern.call('share/get', { id: protectedShare.id });
  await postern.call('share/update', { ...share, validityEndDate: '2001-01-01T00:00:00.000Z' });
  assert.equal(await status(`${protectedShare.base}/visit`, { authorization: basicAuthorization('made', 'up') }), 429);
});

test('an ended session does not open a link from a rate-limited network', async (t) => {
  const { postern, profile, protectedShare, cookie, status } = await startAndProbe(t);
  assert.equal(await status(`${protectedShare.base}/visit`, { cookie: `postern-${profile.id}=made-up` }), 429);
  assert.equal(await status(`${protectedShare.base}/visit`, { cookie }), 200);
  await postern.call('accessuser/update', { id: profile.users['ann'], authId: profile.id, active: false });
  assert.equal(await status(`${protectedShare.base}/visit`, { cookie }), 429);
});

test('inactive links and unknown portals count as unknown links', async (t) => {
  const clock = settableClock();
  clock.advance(minute - (clock.now() % minute));
  const postern = await startPostern(t, { replacements: { ports: { clock } } });
  const inactiveShare = await createShare(postern, { active: false });
  const openShare = await createShare(postern);
  for (let number = 0; number < 30; number += 1) {
    assert.equal((await sendPath(postern, `${inactiveShare.base}/list`)).status, 404);
    assert.equal((await sendPath(postern, '/p/neverwasone/visit')).status, 404);
  }
  assert.equal((await sendPath(postern, `${openShare.base}/visit`)).status, 429);
});

test('a missing path in an existing link does not count as an unknown link', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  for (let number = 0; number < 70; number += 1) assert.equal((await sendPath(postern, `${base}/file/absent${number}`)).status, 404);
});

test('requests that delay their bodies cannot try more than sixty unknown links', async (t) => {
  const clock = settableClock();
  clock.advance(minute - (clock.now() % minute));
  const postern = await startPostern(t, { replacements: { ports: { clock } } });
  const { base } = await createShare(postern);
  const { hostname, port } = new URL(postern.publicUrl);
  const paths = [...Array.from({ length: 90 }, (_, number) => `/s/unknownlink${number}`), base];
  const connections = await Promise.all(
    paths.map(async (path) => {
      const socket = connect(Number(port), hostname);
      atEnd(t, () => socket.destroy());
      let output = '';
      socket.setEncoding('latin1').on('data', (text) => {
        output += text;
      });
      const head = `POST ${path}/sign-out HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n`;
      await new Promise((resolve) => socket.write(`${head}{`, resolve));
      return { socket, status: async () => (await once(socket, 'close')) && Number(/^HTTP\/1.1 (\d+)/.exec(output)?.[1]) };
    }),
  );
  await postern.visit('/health/live'); // by now the server has read the request headers, which were sent before
  const statuses: number[] = [];
  for (const { socket, status } of connections) {
    socket.write('}');
    statuses.push(await status());
  }
  assert.equal(statuses.filter((status) => status === 404).length, 60);
  assert.equal(statuses.at(-1), 429, 'a link that exists gets the same response');
});

test('a process sends at most 500 counts of unknown links in one exchange, and drops the others', async () => {
  const unknownLinks = createUnknownLinks({ now: () => 0 }, () => {});
  for (let network = 0; network < 2000; network += 1) unknownLinks.record(`2001:db8:0:${network.toString(16)}::1`);
  const sentCounts: number[] = [];
  const exchange = () =>
    unknownLinks.exchange({
      async add(_since, networks) {
        sentCounts.push(networks.length);
      },
      read: async () => new Map(),
    });
  await exchange();
  unknownLinks.record('192.0.2.1');
  await exchange();
  assert.deepEqual(sentCounts, [500, 1]);
});

test('counts of unknown links that could not be shared with other processes are shared when sharing works again', async () => {
  const unknownLinks = createUnknownLinks({ now: () => 0 }, () => {});
  const sentCounts: number[] = [];
  const read = async () => new Map();
  const add = async (_since: number, networks: readonly string[]) => void sentCounts.push(networks.length);
  async function failToAdd() {
    unknownLinks.record('192.0.2.2');
    throw new Error('no connection');
  }
  unknownLinks.record('192.0.2.1');
  await assert.rejects(unknownLinks.exchange({ add: failToAdd, read }), /no connection/);
  await unknownLinks.exchange({ add, read });
  await unknownLinks.exchange({ add, read });
  assert.deepEqual(sentCounts, [2, 0]);
});

test('an IPv6 site is refused after 600 unknown links in a minute, regardless of which of its networks they come from', () => {
  const unknownLinks = createUnknownLinks({ now: () => 0 }, () => {});
  for (let count = 0; count < 599; count += 1) unknownLinks.record(`2001:db8:0:${count.toString(16)}::1`);
  assert.equal(unknownLinks.refusal('2001:db8:0:ffff::1'), null);
  unknownLinks.record('2001:db8:0:1000::1');
  assert.equal(unknownLinks.refusal('2001:db8:0:ffff::1')?.messageName, 'tooManyFailures');
  assert.equal(unknownLinks.refusal('2001:db8:1:ffff::1'), null, 'another site is not refused');
});
