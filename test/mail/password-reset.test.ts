import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { until } from '../ports/until.ts';
import { createUsersProfile, type StartOptions, signIn } from '../start.ts';
import { createShare, jsonPostRequest, settableClock } from '../visit/visiting.ts';
import { Browser, codeIn, linkIn, wrongCode } from './code-visitor.ts';
import { headerOf, startWithMail, textOf } from './mailing.ts';

const newPassword = 'quite another secret';
const ann = 'ann@example.com';

/** Starts Postern with a mail server, and a share for access users with passwords. */
async function startWithPasswords(t: TestContext, start: StartOptions = {}) {
  const { postern, sink } = await startWithMail(t, {
    ...start,
    environment: { POSTERN_TRUSTED_PROXIES: '127.0.0.1', ...start.environment },
  });
  const profile = await createUsersProfile(postern, ['ann', 'bob', 'ann.of.example']);
  const setUser = (username: string, change: object) =>
    postern.call('accessuser/update', { id: profile.users[username], authId: profile.id, ...change });
  const share = await createShare(postern, { authenticationId: profile.id });
  const mailsTo = (email: string) => sink.mails.filter(({ to }) => to[0] === email);
  const codeFor = async (email: string, number = 1) => {
    await until(() => mailsTo(email).length >= number);
    return codeIn(headerOf(mailsTo(email)[number - 1], 'Subject'));
  };
  return { postern, sink, profile, share, setUser, codeFor };
}

const requestCode = (browser: Browser, base: string, email: string) => browser.send(`${base}/password/code`, jsonPostRequest({ email }));
const reset = (browser: Browser, base: string, email: string, code: string, password = newPassword) =>
  browser.send(`${base}/password/reset`, jsonPostRequest({ email, code, password }));

for (const at of ['link', 'portal'] as const)
  test(`a user who has forgotten the password sets a new one at a ${at} with a mailed code, and is signed out elsewhere`, async (t) => {
    const { postern, sink, profile, share, codeFor } = await startWithPasswords(t);
    const otherSession = await signIn(postern, share.base, 'ann');
    const base = at === 'link' ? share.base : `/p/${profile.viewId}`;
    const browser = new Browser(postern);
    assert.equal((await browser.send(`${base}/visit`)).body.signIn.canResetPassword, true);
    const codeRequest = await requestCode(browser, base, ann);
    assert.deepEqual([codeRequest.status, codeRequest.body], [202, '']);
    const code = await codeFor(ann);
    const [mail] = sink.mails;
    assert.ok(mail);
    assert.match(headerOf(mail, 'Subject'), /^Your code for a new password/);
    assert.match(textOf(mail), /Your user name: ann/);
    assert.equal(linkIn(mail), `${postern.publicUrl}${base}#code=${code}`);
    const answer = await reset(browser, base, ann, code);
    assert.deepEqual([answer.status, answer.body], [204, '']);
    assert.equal((await browser.send(`${base}/visit`)).body.visitor.name, 'ann');
    assert.equal((await postern.visit(`${share.base}/list`, { headers: { cookie: otherSession } })).status, 401);
    await assert.rejects(signIn(postern, share.base, 'ann'), /401/);
    await signIn(postern, share.base, 'ann', newPassword);
    const { list } = await postern.call('audit/search', { action: 'change-password' });
    assert.deepEqual([list.length, list[0].actor, list[0].outcome], [1, 'ann', 'done']);
    assert.ok(![newPassword, code].some((secret) => JSON.stringify(list).includes(secret)));
  });

test('the response to a request for a new password is the same for every address, and only an active user gets a mail', async (t) => {
  const { postern, sink, share, setUser, codeFor } = await startWithPasswords(t);
  await setUser('bob', { active: false });
  for (const email of ['bob@example.com', 'nobody@example.com', ann]) {
    const { status, body } = await requestCode(new Browser(postern), share.base, email);
    assert.deepEqual([status, body], [202, ''], email);
  }
  await codeFor(ann);
  await until(
    async () => (await postern.ports.store.read.selectFrom('delivery').select('id').where('state', '=', 'waiting').execute()).length === 0,
  );
  assert.deepEqual(
    sink.mails.flatMap(({ to }) => to),
    [ann],
  );
});

test('users who share an address get no code, because it would not identify the user whose password is to be set', async (t) => {
  const { postern, sink, share, setUser, codeFor } = await startWithPasswords(t);
  await setUser('bob', { email: ann });
  const browser = new Browser(postern);
  await requestCode(browser, share.base, ann);
  await until(async () => (await postern.ports.store.read.selectFrom('delivery').select('id').execute()).length === 0);
  assert.deepEqual(sink.mails, []);
  await setUser('bob', { email: 'bob@example.com' });
  await requestCode(browser, share.base, ann);
  assert.equal((await reset(browser, share.base, ann, await codeFor(ann))).status, 204);
});

test('a code for a new password is valid once, in one browser, at one link, for one address', async (t) => {
  const { postern, profile, share, codeFor } = await startWithPasswords(t);
  const other = await createShare(postern, { authenticationId: profile.id });
  const browser = new Browser(postern);
  await requestCode(browser, share.base, ann);
  const code = await codeFor(ann);
  const stranger = new Browser(postern, '198.51.100.9');
  await requestCode(stranger, share.base, 'nobody@example.com');
  const refusals = [
    await reset(stranger, share.base, ann, code),
    await reset(browser, other.base, ann, code),
    await reset(browser, share.base, 'bob@example.com', code),
  ];
  assert.deepEqual(
    refusals.map(({ status, body }) => [status, body.code]),
    refusals.map(() => [401, 'signInWrong']),
  );
  assert.equal((await reset(browser, share.base, ann, code)).status, 204);
  assert.equal((await reset(browser, share.base, ann, code, 'a third good secret')).status, 401);
  await signIn(postern, share.base, 'ann', newPassword);
});

test('the refusal of a new password that is not allowed names the field, and the code stays valid', async (t) => {
  const { postern, share, codeFor } = await startWithPasswords(t);
  const browser = new Browser(postern);
  const email = 'ann.of.example@example.com';
  await requestCode(browser, share.base, email);
  const code = await codeFor(email);
  for (const password of ['nine-char', 'password123', 'ANN.of.example']) {
    const { status, body } = await reset(browser, share.base, email, code, password);
    assert.deepEqual([status, body.errors[0].field], [400, 'password'], password);
  }
  assert.equal((await reset(browser, share.base, email, code)).status, 204);
});

test('guesses of a code for a new password are limited and appear in the audit log', async (t) => {
  const { postern, share, codeFor } = await startWithPasswords(t);
  const browser = new Browser(postern);
  await requestCode(browser, share.base, ann);
  const code = await codeFor(ann);
  const guesses = Array.from({ length: 20 }, (_, index) => reset(browser, share.base, ann, wrongCode(code, index + 1)));
  const statuses = (await Promise.all(guesses)).map(({ status }) => status);
  assert.ok(statuses.every((status) => status === 401 || status === 429));
  assert.ok(statuses.includes(429));
  assert.notEqual((await reset(browser, share.base, ann, code)).status, 204);
  await signIn(postern, share.base, 'ann');
  const { list } = await postern.call('audit/search', { action: 'change-password', outcome: 'refused' });
  assert.ok(list.length > 0);
});

test('a reset in a browser that has requested no code costs no password hash, so that it delays no sign-in', async (t) => {
  const { postern, share, codeFor } = await startWithPasswords(t);
  const hash = t.mock.method(postern.ports.passwordHash, 'hash');
  for (let number = 0; number < 3; number += 1) assert.equal((await reset(new Browser(postern), share.base, ann, '12345678')).status, 401);
  assert.equal(hash.mock.callCount(), 0);
  const browser = new Browser(postern);
  await requestCode(browser, share.base, ann);
  assert.equal((await reset(browser, share.base, ann, await codeFor(ann))).status, 204);
  assert.equal(hash.mock.callCount(), 1);
});

test('without a mail server, the page does not offer to reset a password, and a request is refused', async (t) => {
  const { postern, share } = await startWithPasswords(t, { environment: { POSTERN_SMTP_URL: '', POSTERN_MAIL_FROM: '' } });
  const browser = new Browser(postern);
  assert.equal((await browser.send(`${share.base}/visit`)).body.signIn.canResetPassword, false);
  for (const { status, body } of [await requestCode(browser, share.base, ann), await reset(browser, share.base, ann, '12345678')])
    assert.deepEqual([status, body.code], [400, 'requestMalformed']);
});

test('a profile whose users have no passwords of their own sends no code for a new password', async (t) => {
  const { postern } = await startWithPasswords(t);
  const passwordProfile = await postern.call('loginprofile/add', { title: 'Door', typeId: 2, password: 'correct horse' });
  const { base } = await createShare(postern, { authenticationId: passwordProfile.id });
  const browser = new Browser(postern);
  assert.equal((await browser.send(`${base}/visit`)).body.signIn.canResetPassword, false);
  assert.equal((await requestCode(browser, base, ann)).status, 400);
  assert.equal((await reset(browser, base, ann, '12345678')).status, 400);
});

test('too many resets from one network are refused before they use up a code, which still works from another network', async (t) => {
  const clock = settableClock(); // so that all requests are in one minute
  const { postern, share, codeFor } = await startWithPasswords(t, { replacements: { ports: { clock } } });
  const browser = new Browser(postern);
  await requestCode(browser, share.base, ann);
  const code = await codeFor(ann);
  const floodingBrowser = new Browser(postern);
  await Promise.all(Array.from({ length: 300 }, () => reset(floodingBrowser, share.base, ann, '00000000')));
  const refusal = await reset(browser, share.base, ann, code);
  assert.deepEqual([refusal.status, refusal.body.code], [503, 'signInBusy']);
  const otherBrowser = new Browser(postern, '198.51.100.1');
  for (const [name, value] of browser.cookies) otherBrowser.cookies.set(name, value);
  assert.equal((await reset(otherBrowser, share.base, ann, code)).status, 204, 'the code still works from another network');
});
