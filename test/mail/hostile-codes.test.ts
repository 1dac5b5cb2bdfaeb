import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addTenant } from '../api/keys.ts';
import { until } from '../ports/until.ts';
import { changeShare, createShare, hour, jsonPostRequest, minute, sendPath, settableClock } from '../visit/visiting.ts';
import { Browser, startWithCodes, wrongCode } from './code-visitor.ts';

const ann = 'ann@example.com';
const repeat = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index));

test('at most five of many parallel guesses from many networks are checked against a code, which is then no longer valid', async (t) => {
  const { postern, share, codeFor } = await startWithCodes(t);
  const browser = new Browser(postern);
  await browser.request(share.base, ann);
  const code = await codeFor(ann);
  const guessers = repeat(60, (index) => {
    const guesser = new Browser(postern, `198.51.${index}.1`);
    for (const [name, value] of browser.cookies) guesser.cookies.set(name, value);
    return guesser;
  });
  const statuses = await Promise.all(guessers.map((guesser, index) => guesser.enterCode(share.base, ann, wrongCode(code, index + 1))));
  assert.deepEqual(new Set(statuses), new Set([401]));
  const { attempts } = await postern.ports.store.read.selectFrom('sign_in_code').select('attempts').executeTakeFirstOrThrow();
  assert.equal(attempts, 5);
  assert.equal(await browser.enterCode(share.base, ann, code), 401);
});

test('a code is used once, even by parallel requests', async (t) => {
  const { postern, share, codeFor } = await startWithCodes(t);
  const browser = new Browser(postern);
  await browser.request(share.base, ann);
  const code = await codeFor(ann);
  const statuses = await Promise.all(repeat(5, () => browser.enterCode(share.base, ann, code)));
  assert.equal(statuses.filter((status) => status === 200).length, 1, statuses.join());
  assert.equal(await browser.enterCode(share.base, ann, code), 401);
});

test('another browser cannot use a code, and its attempts do not invalidate the code', async (t) => {
  const { postern, share, codeFor } = await startWithCodes(t);
  const browser = new Browser(postern);
  await browser.request(share.base, ann);
  const code = await codeFor(ann);
  for (const index of [1, 2, 3, 4, 5, 6, 7])
    assert.equal(await new Browser(postern, `198.51.100.${index}`).enterCode(share.base, ann, code), 401);
  assert.equal(await browser.enterCode(share.base, ann, code), 200);
});

test('a browser that has requested a code of its own cannot use the code of another browser', async (t) => {
  const { postern, share, codeFor } = await startWithCodes(t);
  const [browser, attacker] = [new Browser(postern), new Browser(postern, '198.51.100.1')];
  await browser.request(share.base, ann);
  const code = await codeFor(ann);
  await attacker.request(share.base, ann);
  await codeFor(ann, 2);
  assert.equal(await attacker.enterCode(share.base, ann, code), 401);
  assert.equal(await browser.enterCode(share.base, ann, code), 200);
});

test('a code is valid only at the link where it was requested: not at another share of the profile, and not at its portal', async (t) => {
  const { postern, profile, share, codeFor } = await startWithCodes(t);
  const other = await createShare(postern, { authenticationId: profile.id });
  const browser = new Browser(postern);
  await browser.request(share.base, ann);
  const code = await codeFor(ann);
  assert.equal(await browser.enterCode(other.base, ann, code), 401);
  assert.equal(await browser.enterCode(`/p/${profile.viewId}`, ann, code), 401);
  assert.equal(await browser.enterCode(share.base, ann, code), 200);
});

test('a code cannot be used with another address', async (t) => {
  const { postern, share, codeFor } = await startWithCodes(t, { users: ['ann', 'bob'] });
  const browser = new Browser(postern);
  await browser.request(share.base, ann);
  assert.equal(await browser.enterCode(share.base, 'bob@example.com', await codeFor(ann)), 401);
});

test('a code expires after ten minutes', async (t) => {
  const clock = settableClock();
  const { postern, share, codeFor } = await startWithCodes(t, { replacements: { ports: { clock } } });
  const browser = new Browser(postern);
  await browser.request(share.base, ann);
  const code = await codeFor(ann);
  clock.advance(10 * minute);
  assert.equal(await browser.enterCode(share.base, ann, code), 401);
});

test('a new code replaces the earlier one of the same browser, and the code of another browser stays valid', async (t) => {
  const { postern, share, codeFor } = await startWithCodes(t);
  const [phone, laptop] = [new Browser(postern), new Browser(postern)];
  await phone.request(share.base, ann);
  const first = await codeFor(ann);
  await laptop.request(share.base, ann);
  const second = await codeFor(ann, 2);
  await phone.request(share.base, ann);
  const third = await codeFor(ann, 3);
  assert.equal(await phone.enterCode(share.base, ann, first), 401);
  assert.equal(await laptop.enterCode(share.base, ann, second), 200);
  assert.equal(await phone.enterCode(share.base, ann, third), 200);
});

test('a request for a code at another link does not invalidate the earlier code of the same browser', async (t) => {
  const { postern, profile, share, codeFor } = await startWithCodes(t);
  const other = await createShare(postern, { authenticationId: profile.id });
  const browser = new Browser(postern);
  await browser.request(share.base, ann);
  const first = await codeFor(ann);
  await browser.request(other.base, ann);
  await codeFor(ann, 2);
  assert.equal(await browser.enterCode(share.base, ann, first), 200);
});

test('a mailbox gets at most ten codes an hour for all its sub-addresses and spellings, from any number of browsers', async (t) => {
  const clock = settableClock();
  const { postern, sink, share, codeFor } = await startWithCodes(t, { allow: ['*@example.com'], replacements: { ports: { clock } } });
  const owner = new Browser(postern);
  await owner.request(share.base, ann);
  const code = await codeFor(ann);
  const spellings = ['ann+1@example.com', 'ANN@example.com', 'ann+2@EXAMPLE.com', 'Ann+x+y@example.com'];
  for (const index of repeat(40, (at) => at)) {
    const response = await new Browser(postern, `198.51.${index}.1`).request(share.base, String(spellings[index % 4]));
    assert.equal(response.status, 202);
  }
  await until(() => sink.mails.length === 10);
  await owner.request(share.base, ann); // sends no mail
  await owner.request(share.base, 'bob@example.com');
  await codeFor('bob@example.com');
  assert.equal(sink.mails.length, 11);
  clock.advance(hour);
  await owner.request(share.base, ann);
  await until(() => sink.mails.length === 12);
  assert.equal(code.length, 8);
});

test('a request beyond the limit of a mailbox does not invalidate the earlier code', async (t) => {
  const { postern, share, codeFor } = await startWithCodes(t);
  const browser = new Browser(postern);
  await browser.request(share.base, ann);
  const code = await codeFor(ann);
  for (const index of repeat(9, (at) => at)) await new Browser(postern, `198.51.${index}.1`).request(share.base, ann);
  assert.equal((await browser.request(share.base, ann)).status, 202);
  assert.equal(await browser.enterCode(share.base, ann, code), 200);
});

test('requests at another tenant do not use up the codes that a mailbox can get', async (t) => {
  const { postern, sink, share } = await startWithCodes(t);
  const { key } = await addTenant(postern);
  const profile = await postern.call('loginprofile/add', { title: 'Theirs', typeId: 4, configuration: '{"allow":[]}' }, { key });
  for (const index of repeat(12, (at) => at)) await new Browser(postern, `198.51.${index}.1`).request(`/p/${profile.viewId}`, ann);
  await new Browser(postern).request(share.base, ann);
  assert.deepEqual((await sink.waitFor()).to, [ann]);
});

test('one network gets at most a hundred codes in ten minutes, and another network still gets codes', async (t) => {
  const { postern, sink, share, codeFor } = await startWithCodes(t, { allow: ['*@example.com'], users: [] });
  const browser = new Browser(postern);
  const responses = await Promise.all(repeat(110, (index) => browser.request(share.base, `user-${index}@example.com`)));
  assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([202]));
  await until(() => sink.mails.length === 100);
  await new Browser(postern, '198.51.100.1').request(share.base, ann);
  await codeFor(ann);
  assert.equal(sink.mails.length, 101);
});

test('after many wrong codes from many networks, each code of the profile allows one attempt, in which the right code is accepted', async (t) => {
  const { postern, share, codeFor } = await startWithCodes(t, { allow: ['*@example.com'], users: [] });
  for (const index of repeat(50, (at) => at)) {
    const guesser = new Browser(postern, `10.${index}.0.1`);
    await guesser.request(share.base, `guess-${index}@elsewhere.example`);
    for (const code of ['1', '2', '3', '4', '5'])
      assert.equal(await guesser.enterCode(share.base, `guess-${index}@elsewhere.example`, code), 401);
  }
  const [careless, visitor] = [new Browser(postern), new Browser(postern)];
  await careless.request(share.base, 'bob@example.com');
  const code = await codeFor('bob@example.com');
  assert.equal(await careless.enterCode(share.base, 'bob@example.com', wrongCode(code)), 401);
  assert.equal(await careless.enterCode(share.base, 'bob@example.com', code), 401);
  await visitor.request(share.base, ann);
  assert.equal(await visitor.enterCode(share.base, ann, await codeFor(ann)), 200);
});

test('an unknown address gets the same response as a known one, and the delivery for the unknown address is deleted', async (t) => {
  const { postern, sink, share, codeFor } = await startWithCodes(t);
  const requestFrom = async (email: string) => {
    const { status, headers, body } = await new Browser(postern).request(share.base, email);
    const rest = [...headers].filter(([name]) => !['date', 'x-request-id', 'set-cookie'].includes(name));
    return { status, body, rest, cookies: headers.getSetCookie().map((cookie) => cookie.replace(/=[\w-]{43};/, '=token;')) };
  };
  assert.deepEqual(await requestFrom('nobody@example.com'), await requestFrom(ann));
  await codeFor(ann);
  const states = async () => (await postern.ports.store.read.selectFrom('delivery').select('state').execute()).map(({ state }) => state);
  await until(async () => String(await states()) === 'sent'); // the delivery for the unknown address is deleted
  const { list } = await postern.call('mail/deliveries');
  assert.deepEqual(
    list.map(({ recipient, kind, state }: Record<string, string>) => [recipient, kind, state]),
    [[ann, 'code', 'sent']],
  );
  assert.equal(sink.mails.length, 1);
});

test('an unknown address cannot sign in with any code', async (t) => {
  const { postern, share } = await startWithCodes(t);
  const browser = new Browser(postern);
  await browser.request(share.base, 'nobody@example.com');
  for (const code of ['', '00000000', 'null', '[]']) assert.ok((await browser.enterCode(share.base, 'nobody@example.com', code)) >= 400);
});

test('an inactive user gets no code, although the profile allows the domain', async (t) => {
  const { postern, sink, profile, share, users, codeFor } = await startWithCodes(t, { allow: ['*@example.com'], users: ['ann', 'bob'] });
  await postern.call('accessuser/update', { id: users['ann'], authId: profile.id, active: false });
  const browser = new Browser(postern);
  await browser.request(share.base, 'Ann@example.com');
  await browser.request(share.base, 'bob@example.com');
  await codeFor('bob@example.com');
  assert.equal(sink.mails.length, 1);
});

test('a user who is deactivated after the request for a code cannot use it', async (t) => {
  const { postern, profile, share, users, codeFor } = await startWithCodes(t, { allow: ['*@example.com'] });
  const browser = new Browser(postern);
  await browser.request(share.base, ann);
  const code = await codeFor(ann);
  await postern.call('accessuser/update', { id: users['ann'], authId: profile.id, active: false });
  assert.equal(await browser.enterCode(share.base, ann, code), 401);
});

test('an address that only looks like an allowed one gets no code', async (t) => {
  const { postern, sink, share, codeFor } = await startWithCodes(t, { allow: ['*@kiosk.example', 'kim@partner.example'], users: ['kai'] });
  const browser = new Browser(postern);
  const lookAlikes = [
    'eve@\u212aiosk.example', // Kelvin sign
    'eve@kio\u0455k.example', // Cyrillic
    'eve@kiosk.example.evil.example',
    'eve@sub.kiosk.example',
    'eve@kiosk\u3002example',
    '\u212aim@partner.example',
    '\u212aai@example.com',
    'kai@examp\u217ce.com', // small roman numeral fifty
  ];
  for (const email of lookAlikes) await browser.request(share.base, email);
  await browser.request(share.base, 'eve@kiosk.example');
  await codeFor('eve@kiosk.example');
  assert.deepEqual(
    sink.mails.map(({ to }) => to),
    [['eve@kiosk.example']],
  );
});

test('a code is mailed to the address in the spelling that the operator has entered', async (t) => {
  const { postern, share, codeFor } = await startWithCodes(t, { users: ['Ann.Lee'] });
  const browser = new Browser(postern);
  await browser.request(share.base, 'aNN.lEE@EXAMPLE.com');
  assert.equal(await browser.enterCode(share.base, 'ann.lee@example.com', await codeFor('Ann.Lee@example.com')), 200);
});

for (const [what, email] of [
  ['a line break', 'ann@example.com\r\nBcc: eve@evil.example'],
  ['two addresses', 'ann@example.com,eve@evil.example'],
  ['a group', 'all:ann@example.com;'],
  ['a name and angle brackets', 'Ann <ann@example.com>'],
  ['a second @', 'ann@example.com@evil.example'],
  ['a right-to-left override', 'ann\u202e@example.com'],
  ['a NUL', 'ann\0@example.com'],
  ['300 characters before the @', `${'a'.repeat(300)}@example.com`],
] as const)
  test(`an address with ${what} is refused and gets no mail`, async (t) => {
    const { postern, sink, share, codeFor } = await startWithCodes(t, { allow: ['*@example.com', '*@evil.example'] });
    const browser = new Browser(postern);
    assert.equal((await browser.request(share.base, email)).status, 400);
    await browser.request(share.base, 'bob@example.com');
    await codeFor('bob@example.com');
    assert.equal(sink.mails.length, 1);
  });

test('a mail scanner that follows the link and sends the form does not use up the code', async (t) => {
  const { postern, share, codeFor } = await startWithCodes(t);
  const browser = new Browser(postern);
  await browser.request(share.base, ann);
  const code = await codeFor(ann);
  const scanner = new Browser(postern, '198.51.100.1');
  for (const method of ['GET', 'HEAD']) assert.equal((await scanner.send(share.base, { method })).status, 200);
  for (const _ of repeat(4, () => 0)) assert.equal(await scanner.enterCode(share.base, ann, code), 401);
  assert.equal(await browser.enterCode(share.base, ann, code), 200);
});

test('a page of another origin can neither request a code nor enter one', async (t) => {
  const { postern, sink, share, codeFor } = await startWithCodes(t);
  const browser = new Browser(postern);
  const crossOrigin = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
  assert.equal((await browser.request(share.base, ann, crossOrigin)).status, 403);
  await browser.request(share.base, ann);
  const code = await codeFor(ann);
  assert.equal((await browser.send(`${share.base}/sign-in`, jsonPostRequest({ email: ann, code }, crossOrigin))).status, 403);
  assert.equal(sink.mails.length, 1);
});

test('a code is not accepted by Basic authentication', async (t) => {
  const { postern, share, codeFor } = await startWithCodes(t);
  const browser = new Browser(postern);
  await browser.request(share.base, ann);
  const authorization = `Basic ${Buffer.from(`${ann}:${await codeFor(ann)}`).toString('base64')}`;
  assert.equal((await browser.send(`${share.base}/list`, { headers: { authorization } })).status, 401);
});

test('a code cannot be read in the database or in responses to operators', async (t) => {
  const { postern, share, codeFor } = await startWithCodes(t);
  const browser = new Browser(postern);
  await browser.request(share.base, ann);
  const code = await codeFor(ann);
  const { read } = postern.ports.store;
  for (const table of ['sign_in_code', 'mail_content', 'delivery', 'audit', 'job'] as const) {
    const text = JSON.stringify(await read.selectFrom(table).selectAll().execute());
    assert.doesNotMatch(text, new RegExp(`${code}|${code.slice(0, 4)} ${code.slice(4)}`), table);
  }
  await until(async () => (await read.selectFrom('mail_content').select('id').execute()).length === 0);
  assert.doesNotMatch(JSON.stringify(await postern.call('mail/deliveries')), new RegExp(code));
  assert.doesNotMatch(JSON.stringify(await postern.call('audit/search')), new RegExp(code));
});

test('the cookie of a code is HttpOnly, Secure and SameSite=Lax, and has the prefix __Host-', async (t) => {
  const { postern, share } = await startWithCodes(t, { environment: { POSTERN_PUBLIC_URL: 'https://files.example.com' } });
  const { headers } = await sendPath(postern, `${share.base}/sign-in/code`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: ann }),
  });
  assert.match(String(headers['set-cookie']), /^__Host-postern-code=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/i);
});

test('no code is sent for a link that has expired, or for a link or portal that does not admit the network', async (t) => {
  const { postern, sink, profile, share } = await startWithCodes(t);
  await changeShare(postern, share.id, { validityEndDate: '2020-01-01' });
  assert.equal((await new Browser(postern).request(share.base, ann)).status, 410);
  await changeShare(postern, share.id, { validityEndDate: null });
  await postern.call('loginprofile/update', { id: profile.id, ipRange: '192.0.2.0/24' });
  for (const base of [share.base, `/p/${profile.viewId}`]) assert.equal((await new Browser(postern).request(base, ann)).status, 403);
  await new Browser(postern, '192.0.2.1').request(share.base, ann);
  await sink.waitFor();
  assert.equal(sink.mails.length, 1);
});

test('a code is no longer valid when its link or the portal of its login profile gets another address', async (t) => {
  const { postern, profile, share, codeFor } = await startWithCodes(t);
  const browser = new Browser(postern);
  await browser.request(share.base, ann);
  const code = await codeFor(ann);
  await postern.call('loginprofile/updateViewId', { id: profile.id });
  assert.equal(await browser.enterCode(share.base, ann, code), 401);
  await browser.request(share.base, ann);
  const second = await codeFor(ann, 2);
  const { viewId } = await postern.call('share/updateSharableLink', { id: share.id });
  assert.equal(await browser.enterCode(`/s/${viewId}`, ann, second), 401);
});

test('an operator cannot send a code again', async (t) => {
  const { postern, share, codeFor } = await startWithCodes(t);
  await new Browser(postern).request(share.base, ann);
  await codeFor(ann);
  const { list } = await postern.call('mail/deliveries');
  assert.equal((await postern.send('mail/retry', { id: list[0].id })).status, 409);
  assert.equal((await postern.call('mail/retry', { state: 'failed' })).mailCount, 0);
});
