import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { atEnd } from '../parts/at-end.ts';
import { type Directory, missingForDirectory, startDirectory } from '../parts/debian-directory.ts';
import { until } from '../ports/until.ts';
import { cookieOf, startPostern, type TestPostern } from '../start.ts';
import { addLargeFile, startSlowDownload } from '../visit/slow-download.ts';
import { basicAuthorization, createShare, hour, jsonPostRequest, minute, settableClock } from '../visit/visiting.ts';

const missing = missingForDirectory();
const options = { skip: missing === '' ? false : `not installed: ${missing}` };
const environment = { POSTERN_PRIVATE_TARGETS: '127.0.0.1', POSTERN_TRUSTED_PROXIES: '127.0.0.1' };
const ann = 'uid=ann,ou=people,dc=test';
const pollInterval = 200; // ms between two attempts: for three seconds, Postern sends no request to a directory that did not respond

/** Adds a login profile for a directory, and a share for its visitors. */
async function addDirectoryProfile(postern: TestPostern, configuration: object) {
  const profile = await postern.call('loginprofile/add', { title: 'Staff', typeId: 7, configuration: JSON.stringify(configuration) });
  const share = await createShare(postern, { authenticationId: profile.id });
  const signIn = (username: string, password = `${username}-secret`, from = '192.0.2.1') =>
    postern.visit(`${share.base}/sign-in`, jsonPostRequest({ username, password }, { 'x-forwarded-for': from }));
  return { profile, share, signIn };
}

async function startWithDirectory(t: TestContext, change: (directory: Directory) => object = () => ({})) {
  const directory = await startDirectory(t);
  const clock = settableClock();
  const postern = await startPostern(t, { environment, replacements: { ports: { clock } } });
  const parts = await addDirectoryProfile(postern, { ...directory.configuration, ...change(directory) });
  /** Returns the status of a listing for a visitor who has signed in. */
  const list = async (cookie: string, base = parts.share.base) => (await postern.visit(`${base}/list`, { headers: { cookie } })).status;
  return { directory, clock, postern, list, ...parts };
}

const connectionKinds: Readonly<Record<string, (directory: Directory) => object>> = {
  'LDAPS, with an account for searches': () => ({}),
  StartTLS: ({ plainUrl }) => ({ url: plainUrl, startTls: true }),
  'LDAP without TLS on this machine': ({ plainUrl }) => ({ url: plainUrl }),
  bindPattern: () => ({
    bindPattern: 'uid={username},ou=people,dc=test',
    bindDn: undefined,
    bindPassword: undefined,
    userFilter: undefined,
  }),
};
for (const [kind, change] of Object.entries(connectionKinds))
  test(`a visitor signs in with the password of a directory, at a link and a portal (${kind})`, options, async (t) => {
    const { postern, profile, share, signIn } = await startWithDirectory(t, change);
    const answer = await signIn('ann');
    assert.deepEqual([answer.status, answer.body.visitor], [200, { name: 'Ann Archer', email: 'ann@example.com' }]);
    assert.equal(
      (await postern.visit(`/p/${profile.viewId}/sign-in`, jsonPostRequest({ username: 'bob', password: 'bob-secret' }))).status,
      200,
    );
    assert.equal(
      (await postern.visit(`${share.base}/list`, { headers: { authorization: basicAuthorization('ann', 'ann-secret') } })).status,
      200,
    );
    assert.deepEqual([(await signIn('ann', 'bob-secret')).status, (await signIn('nobody')).status], [401, 401]);
  });

test('a share lists visitors of a directory by user name, e-mail address, group name or group DN', options, async (t) => {
  const { postern, profile, signIn, list } = await startWithDirectory(t);
  const createListedShare = async (lists: object) =>
    (await createShare(postern, { authenticationId: profile.id, allowAllUsers: false, ...lists })).base;
  const bases = [
    await createListedShare({ userNames: 'ANN' }),
    await createListedShare({ userNames: 'ann@example.com' }),
    await createListedShare({ groupNames: 'Editors' }),
    await createListedShare({ groupNames: '"cn=all,ou=groups,dc=test"' }),
    await createListedShare({ userNames: 'Ann Archer' }),
  ];
  const statuses = async (name: string) => {
    const cookie = cookieOf(await signIn(name));
    return Promise.all(bases.map((base) => list(cookie, base)));
  };
  assert.deepEqual(await statuses('ann'), [200, 200, 200, 403, 403]);
  assert.deepEqual(await statuses('bob'), [403, 403, 403, 200, 403]);
});

for (const [how, change] of Object.entries({
  'the attribute memberOf': {},
  'a search': { groupsFrom: 'search', groupFilter: '(member={dn})' },
}))
  test(`nested groups count only if the profile says so, and a cycle of groups causes no error (${how})`, options, async (t) => {
    const { directory, postern, signIn, list } = await startWithDirectory(t, () => change);
    await directory.replace('cn=all,ou=groups,dc=test', 'member', ['uid=bob,ou=people,dc=test', 'cn=staff,ou=groups,dc=test']);
    const nested = await addDirectoryProfile(postern, { ...directory.configuration, ...change, nestedGroups: true });
    const createStaffShare = (id: number) => createShare(postern, { authenticationId: id, allowAllUsers: false, groupNames: 'staff' });
    const staffBase = (await createStaffShare(nested.profile.id)).base;
    assert.equal(await list(cookieOf(await nested.signIn('ann')), staffBase), 200);
    const direct = await startWithDirectory(t, () => change);
    const share = await createShare(direct.postern, { authenticationId: direct.profile.id, allowAllUsers: false, groupNames: 'staff' });
    assert.equal(await direct.list(cookieOf(await direct.signIn('ann')), share.base), 403);
    assert.equal((await signIn('ann')).status, 200);
  });

test('a user outside the required group is refused, and the audit log says why', options, async (t) => {
  const { postern, signIn } = await startWithDirectory(t, () => ({ requireGroup: 'editors' }));
  assert.equal((await signIn('ann')).status, 200);
  const { status, body } = await signIn('bob');
  assert.deepEqual([status, body.code], [403, 'notAdmitted']);
  await until(async () => (await postern.call('audit/search', { outcome: 'refused' })).list.length > 0);
  assert.match(JSON.stringify((await postern.call('audit/search', { outcome: 'refused' })).list), /not in the group editors/);
});

test(
  'a user whom a search finds in more than a thousand groups is refused, and not admitted with only some of them',
  options,
  async (t) => {
    const { directory, postern, signIn } = await startWithDirectory(t, () => ({ groupsFrom: 'search', groupFilter: '(member={dn})' }));
    const member = 'uid=ann,ou=people,dc=test';
    const names = Array.from({ length: 1001 }, (_, index) => `group ${index}`);
    await Promise.all(names.map((cn) => directory.add(`cn=${cn},ou=groups,dc=test`, { objectClass: 'groupOfNames', cn, member })));
    assert.equal((await signIn('ann')).status, 503);
    const refusedEntries = async () => JSON.stringify((await postern.call('audit/search', { outcome: 'refused' })).list);
    await until(async () => (await refusedEntries()) !== '[]');
    assert.match(await refusedEntries(), /more than 1000 groups/);
    assert.equal((await signIn('bob')).status, 200);
  },
);

test('characters with a special meaning in filters are part of the name', options, async (t) => {
  const { signIn } = await startWithDirectory(t);
  assert.equal((await signIn('we*rd(x)', 'weird-secret')).status, 200);
  for (const name of ['*', 'a*', 'ann)(uid=*', '*)(|(uid=*', 'ann\\2a', 'uid=ann', 'ann,ou=people', 'a\0nn', 'x'.repeat(300)])
    assert.ok([400, 401].includes((await signIn(name, 'ann-secret')).status), JSON.stringify(name));
});

test('a name with characters that have a special meaning in a DN or in bindPattern matches nobody', options, async (t) => {
  const { signIn } = await startWithDirectory(t, connectionKinds['bindPattern']);
  for (const name of ['ann,ou=people,dc=test', 'ann+sn=Archer', 'ann@example.com', '{username}', '$&', 'ann\\'])
    assert.equal((await signIn(name, 'ann-secret')).status, 401, name);
  assert.equal((await signIn('ann')).status, 200);
});

test('nobody signs in with a name that several entries have, or with the name of an alias', options, async (t) => {
  const { directory, signIn } = await startWithDirectory(t);
  assert.equal((await signIn('twin')).status, 401);
  assert.equal((await signIn('alias', 'ann-secret')).status, 401);
  await directory.add('uid=third,ou=people,dc=test', { objectClass: 'inetOrgPerson', uid: ['twin', 'third'], cn: 'T', sn: 'T' });
  assert.equal((await signIn('twin')).status, 401, 'three entries with this name');
});

test('a directory whose certificate is not trusted, or is for another host, signs nobody in', options, async (t) => {
  const { directory, postern } = await startWithDirectory(t);
  const { tlsUrl, plainUrl } = directory;
  for (const change of [
    { ca: undefined },
    { ca: undefined, url: plainUrl, startTls: true },
    { url: tlsUrl.replace('127.0.0.1', 'localhost') }, // the certificate is for 127.0.0.1
  ]) {
    const { signIn } = await addDirectoryProfile(postern, { ...directory.configuration, ...change });
    const { status, body } = await signIn('ann');
    assert.deepEqual([status, body.code], [503, 'providerAway'], JSON.stringify(change));
  }
});

test('a user who is removed or replaced, or leaves the required group, loses access after ten minutes', options, async (t) => {
  const changes: Readonly<Record<string, (directory: Directory) => Promise<void>>> = {
    removed: (directory) => directory.remove(ann),
    'without the group': (directory) => directory.replace('cn=editors,ou=groups,dc=test', 'member', ['uid=bob,ou=people,dc=test']),
    'replaced by another entry': async (directory) => {
      await directory.remove(ann);
      await directory.add(ann, { objectClass: 'inetOrgPerson', uid: 'ann', cn: 'Another Ann', sn: 'A' });
    },
  };
  for (const [what, change] of Object.entries(changes)) {
    const { directory, clock, signIn, list } = await startWithDirectory(t, () => ({ requireGroup: 'editors' }));
    const cookie = cookieOf(await signIn('ann'));
    await change(directory);
    clock.advance(9 * minute);
    assert.equal(await list(cookie), 200, what);
    clock.advance(2 * minute);
    assert.equal(await list(cookie), 401, what);
  }
});

test(
  'a transfer of a user who is removed from the directory is reset after ten minutes, also with Basic authentication',
  options,
  async (t) => {
    const { directory, clock, postern, share, signIn } = await startWithDirectory(t);
    await addLargeFile(postern);
    const url = `${postern.publicUrl}${share.base}/file/large.bin`;
    const cookie = cookieOf(await signIn('ann'));
    const running = await Promise.all([
      startSlowDownload(t, url, { cookie }),
      startSlowDownload(t, url, { authorization: basicAuthorization('ann', 'ann-secret') }),
    ]);
    await directory.remove(ann);
    clock.advance(10 * minute + 1000);
    for (const { connectionError } of running) assert.equal((await connectionError).code, 'ECONNRESET');
  },
);

test('with bindPattern, a session ends after an hour, because it cannot be renewed', options, async (t) => {
  const { clock, signIn, list } = await startWithDirectory(t, connectionKinds['bindPattern']);
  const cookie = cookieOf(await signIn('ann'));
  clock.advance(hour - minute);
  assert.equal(await list(cookie), 200);
  clock.advance(2 * minute);
  assert.equal(await list(cookie), 401);
});

test('if a directory hangs, only its own visitors get 503, and they can sign in again when the directory responds', options, async (t) => {
  const { directory, postern, signIn } = await startWithDirectory(t);
  const other = await startDirectory(t);
  const elsewhere = await addDirectoryProfile(postern, other.configuration);
  assert.equal((await signIn('ann')).status, 200);
  directory.pause();
  const waiting = Array.from({ length: 30 }, (_, number) => signIn('ann', 'ann-secret', `198.51.100.${number}`));
  assert.equal((await elsewhere.signIn('bob')).status, 200);
  for (const { status } of await Promise.all(waiting)) assert.equal(status, 503);
  directory.resume();
  await until(async () => {
    await sleep(pollInterval);
    return (await signIn('ann')).status === 200;
  });
});

test(
  'strangers cannot lock an account: from new networks, at most three wrong passwords in fifteen minutes reach the directory',
  options,
  async (t) => {
    const { clock, signIn } = await startWithDirectory(t);
    assert.equal((await signIn('ann', 'ann-secret', '192.0.2.1')).status, 200);
    const tries = Array.from({ length: 8 }, (_, number) => signIn('ann', 'wrong', `198.51.${number}.1`));
    const statuses = (await Promise.all(tries)).map(({ status }) => status);
    assert.deepEqual(statuses.toSorted(), [401, 401, 401, 429, 429, 429, 429, 429]);
    const stranger = await signIn('ann', 'ann-secret', '203.0.113.1');
    assert.equal(stranger.status, 429, 'from a new network, the right password is refused, too');
    assert.ok(Number(stranger.headers.get('retry-after')) <= 15 * 60);
    assert.equal((await signIn('ann', 'ann-secret', '192.0.2.1')).status, 200, 'the user signs in as before');
    clock.advance(16 * minute);
    assert.equal((await signIn('ann', 'ann-secret', '203.0.113.1')).status, 200);
  },
);

test('a user whose entry is too large for a sign-in does not make the directory unavailable to other users', options, async (t) => {
  const { directory, signIn } = await startWithDirectory(t);
  const entry = { objectClass: 'inetOrgPerson', uid: 'big', cn: 'Big', sn: 'B', displayName: 'x'.repeat(300_000) };
  await directory.add('uid=big,ou=people,dc=test', entry);
  for (let attempt = 0; attempt < 3; attempt += 1) {
    assert.equal((await signIn('big', 'wrong', `192.0.2.${attempt}`)).status, 503);
    assert.equal((await signIn('ann')).status, 200);
  }
});

test('with bindPattern, wrong passwords for all spellings that the directory treats as one name count together', options, async (t) => {
  const { directory, signIn } = await startWithDirectory(t, connectionKinds['bindPattern']);
  const password = 'own secret';
  await directory.add('uid=änn,ou=people,dc=test', { objectClass: 'inetOrgPerson', uid: 'änn', cn: 'Än', sn: 'N', userPassword: password });
  assert.equal((await signIn('ＡＮＮ', 'ann-secret', '192.0.2.1')).status, 200, 'the directory accepts the other spelling');
  const spellings = ['ann', 'ａｎｎ', '𝐚nn', 'Ａnn', 'a𝑛n', 'änn'];
  const statuses: number[] = [];
  for (const [number, spelling] of spellings.entries()) statuses.push((await signIn(spelling, 'wrong', `198.51.${number}.1`)).status);
  assert.deepEqual(statuses, [401, 401, 401, 429, 429, 429]);
  // A user with another name but the same `looseName` is refused, too, so that this sign-in does not clear the count.
  assert.equal((await signIn('änn', password, '192.0.2.7')).status, 429);
  assert.equal((await signIn('ANN', 'wrong', '198.51.77.1')).status, 429);
});

/** Starts a fake directory. It sends what a test wants, because a real directory does not attack its clients. */
async function startFake(t: TestContext, onData: (socket: Socket, data: Buffer) => void) {
  const receivedData: Buffer[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (data: Buffer) => {
      receivedData.push(data);
      onData(socket, data);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(t, () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  return { url: `ldap://127.0.0.1:${address.port}`, receivedData, connections: () => sockets.size };
}

const baseConfiguration = { baseDn: 'dc=test', bindDn: 'cn=reader', bindPassword: 'reader-secret', userFilter: '(uid={username})' };
const startTlsAccepted = Buffer.from('300c02010178070a010004000400', 'hex'); // StartTLS: success
const bindSucceeds = Buffer.from('300c02010261070a010004000400', 'hex');
const hostileResponses: Readonly<Record<string, (socket: Socket) => unknown>> = {
  'does not accept StartTLS': (socket) => socket.write(Buffer.from('300c02010178070a010204000400', 'hex')),
  'sends a forged success of the bind after its StartTLS response': (socket) =>
    socket.write(Buffer.concat([startTlsAccepted, bindSucceeds])),
  'answers another request': (socket) => socket.write(Buffer.from('300c02010278070a010004000400', 'hex')),
  'closes the connection': (socket) => socket.end(),
  'sends a part of its response and closes the connection': (socket) => socket.end(startTlsAccepted.subarray(0, 5)),
  'announces a response of 4 GiB': (socket) => socket.write(Buffer.from('3084ffffffff', 'hex')),
  'sends something other than LDAP': (socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'.repeat(400)),
  'accepts StartTLS, but sends no TLS': (socket) => {
    socket.write(startTlsAccepted);
    socket.write('no TLS at all');
  },
};
for (const [what, respond] of Object.entries(hostileResponses))
  test(`a directory that ${what} gets no password, and no second connection`, async (t) => {
    const fake = await startFake(t, (socket) => void respond(socket));
    const postern = await startPostern(t, { environment });
    const { signIn } = await addDirectoryProfile(postern, { ...baseConfiguration, url: fake.url, startTls: true });
    const { status, body } = await signIn('ann', 'a-very-secret-word');
    assert.deepEqual([status, body.code], [503, 'providerAway']);
    assert.equal(fake.connections(), 1);
    const sent = Buffer.concat(fake.receivedData).toString('latin1');
    for (const secret of ['reader-secret', 'a-very-secret-word']) assert.ok(!sent.includes(secret));
  });

test('an empty or blank password, or one that begins with NUL, is refused before anything is sent', async (t) => {
  const fake = await startFake(t, (socket) => socket.destroy());
  const postern = await startPostern(t, { environment });
  const byPattern = { url: fake.url, baseDn: 'dc=test', bindPattern: 'uid={username},dc=test' };
  const { signIn } = await addDirectoryProfile(postern, byPattern);
  for (const password of ['', ' ', '\t\n', '\0', '\0secret']) assert.ok([400, 401].includes((await signIn('ann', password)).status));
  assert.equal(fake.connections(), 0);
});

test('a directory that sends data without end is unavailable', async (t) => {
  const fake = await startFake(t, (socket) => {
    socket.write(Buffer.from('3084ffffff00', 'hex'));
    const piece = Buffer.alloc(1 << 16);
    const more = () => socket.writable && socket.write(piece, more);
    more();
  });
  const postern = await startPostern(t, { environment });
  const { signIn } = await addDirectoryProfile(postern, { ...baseConfiguration, url: fake.url });
  assert.equal((await signIn('ann')).status, 503);
});

test('a configuration that is unsafe, contradictory or incomplete is refused, with the reason', async (t) => {
  const postern = await startPostern(t, { environment });
  const refusedConfigurations: readonly [object, RegExp][] = [
    [{ url: 'ldap://directory.example.com' }, /must not be sent unencrypted/],
    [{ url: 'ldaps://directory.example.com', startTls: true }, /startTls is for ldap/],
    [{ url: 'ldaps://ann:secret@directory.example.com' }, /without a path, a query, a fragment, a user name or a password/],
    [{ userFilter: '(uid=ann)' }, /with \{username\}/],
    [{ userFilter: '(uid={username}' }, /must be a filter/],
    [{ userFilter: undefined }, /userFilter is required/],
    [{ bindPassword: undefined }, /bindDn and bindPassword are required/],
    [{ bindPattern: '{username}@example.com' }, /must not be given with bindPattern/],
    [{ bindPattern: 'ann@example.com', bindDn: undefined, bindPassword: undefined }, /must contain \{username\}/],
    [{ groupFilter: '(member={dn})' }, /needs groupsFrom/],
    [{ groupsFrom: 'search' }, /groupFilter must be a filter/],
    [{ emailAttribute: 'mail)(uid=*' }, /name of an attribute/],
  ];
  for (const [change, reason] of refusedConfigurations) {
    const configuration = JSON.stringify({ ...baseConfiguration, url: 'ldaps://directory.example.com', ...change });
    const { status, body } = await postern.send('loginprofile/add', { title: 'X', typeId: 7, configuration });
    assert.equal(status, 400, JSON.stringify(change));
    assert.match(body.detail, reason);
  }
});

test('the password of the account for searches is masked, and changing the account ends no session', options, async (t) => {
  const { directory, postern, profile, signIn, list } = await startWithDirectory(t);
  const cookie = cookieOf(await signIn('ann'));
  const stored = await postern.call('loginprofile/get', { id: profile.id });
  assert.ok(!JSON.stringify([stored, await postern.call('audit/search', {})]).includes('reader-secret'));
  const configuration = JSON.stringify({ ...directory.configuration, bindDn: 'cn=root,dc=test', bindPassword: 'root-secret' });
  await postern.call('loginprofile/update', { id: profile.id, configuration });
  assert.equal(await list(cookie), 200);
});

test('loginprofile/test shows each step, and by which names shares can list a user', options, async (t) => {
  const { directory, postern, profile } = await startWithDirectory(t);
  const testProfile = async (credentials: object, id = profile.id) => {
    const { works, steps } = await postern.call('loginprofile/test', { id, ...credentials });
    return { works, names: steps.map(({ step }: { step: string }) => step).join(' '), last: steps.at(-1).detail };
  };
  assert.deepEqual(await testProfile({}), { works: true, names: 'connection account', last: 'The directory accepts the account.' });
  const userTest = await testProfile({ username: 'ann' });
  assert.equal(userTest.names, 'connection account user');
  assert.match(userTest.last, /\(userNames\): ann, ann@example.com\. Groups \(groupNames\): "cn=editors,ou=groups,dc=test", editors\./);
  assert.deepEqual(await testProfile({ username: 'ann', password: 'ann-secret' }), {
    works: true,
    names: 'connection account user password',
    last: '',
  });
  assert.equal((await testProfile({ username: 'ann', password: 'wrong' })).last, 'The directory refuses the password.');
  assert.match((await testProfile({ username: 'twin' })).last, /more than one entry/);
  const wrongAccount = await addDirectoryProfile(postern, { ...directory.configuration, bindPassword: 'wrong' });
  assert.deepEqual(await testProfile({}, wrongAccount.profile.id), {
    ...{ works: false, names: 'connection account' },
    last: 'The directory does not accept bindDn with bindPassword.',
  });
  const untrustedProfile = await addDirectoryProfile(postern, { ...directory.configuration, ca: undefined });
  assert.match((await testProfile({}, untrustedProfile.profile.id)).last, /does not trust its certificate/);
});

test('sign-ins while the directory does not respond do not count as wrong passwords', options, async (t) => {
  const { directory, clock, signIn } = await startWithDirectory(t, connectionKinds['bindPattern']);
  directory.pause();
  for (let tries = 0; tries < 5; tries += 1) assert.equal((await signIn('ann')).status, 503);
  directory.resume();
  await until(async () => {
    await sleep(pollInterval);
    return (await signIn('ann')).status !== 503;
  });
  clock.advance(1000);
  assert.equal((await signIn('ann')).status, 200);
});
