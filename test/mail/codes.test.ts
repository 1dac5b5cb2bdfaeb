import assert from 'node:assert/strict';
import { test } from 'node:test';
import { giveUpOldDeliveries } from '#features/mail/delivery-queue.ts';
import { addMail } from '#features/outbox/add-mail.ts';
import { forgetSecrets } from '#features/secrets/forget-secrets.ts';
import { keyVault } from '../../src/adapters/os/key-vault.ts';
import { mailSettings, startPostern, type TestPostern, temporaryFolder } from '../start.ts';
import { createShare, hour, jsonPostRequest, minute, settableClock } from '../visit/visiting.ts';
import { Browser, codeIn, linkIn, startWithCodes } from './code-visitor.ts';
import { headerOf, htmlOf, startWithMail, textOf } from './mailing.ts';

const ann = 'ann@example.com';

test('an access user signs in with the code that is mailed to them', async (t) => {
  const { postern, sink, share, codeFor } = await startWithCodes(t);
  const browser = new Browser(postern);
  const before = (await browser.send(`${share.base}/visit`)).body;
  assert.deepEqual([before.signIn.asksCode, before.signIn.asksPassword, before.signIn.signedIn], [true, false, false]);
  const codeResponse = await browser.request(share.base, ann);
  assert.deepEqual([codeResponse.status, codeResponse.body], [202, '']);
  const code = await codeFor(ann);
  assert.match(code, /^\d{8}$/);
  const [mail] = sink.mails;
  assert.ok(mail);
  assert.equal(headerOf(mail, 'Auto-Submitted'), 'auto-generated');
  assert.equal(headerOf(mail, 'List-Unsubscribe'), '');
  for (const text of [textOf(mail), htmlOf(mail)]) assert.equal(codeIn(text), code);
  assert.equal(linkIn(mail), `${postern.publicUrl}${share.base}#code=${code}`);
  const { status, body } = await browser.send(`${share.base}/sign-in`, jsonPostRequest({ email: ann, code }));
  assert.equal(status, 200);
  assert.deepEqual(body.visitor, { name: 'ann', email: ann });
  assert.equal((await browser.send(`${share.base}/list`)).status, 200);
});

test('a code can be entered as people write it, with spaces, hyphens, or the digits of another script', async (t) => {
  const { postern, share, codeFor } = await startWithCodes(t);
  const spellings = [
    (code: string) => `${code.slice(0, 4)} ${code.slice(4)}`,
    (code: string) => ` ${code.slice(0, 4)}-${code.slice(4)}\n`,
    (code: string) => code.replace(/\d/g, (digit) => String.fromCharCode(0x660 + Number(digit))),
    (code: string) => code.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
  ];
  for (const [index, spell] of spellings.entries()) {
    const browser = new Browser(postern);
    await browser.request(share.base, ann);
    assert.equal(await browser.enterCode(share.base, ann, spell(await codeFor(ann, index + 1))), 200);
  }
});

test('a visitor with an address that the profile allows signs in without an access user, and a share can list the address', async (t) => {
  const { postern, profile, codeFor } = await startWithCodes(t, { allow: ['Bob@partner.example', '*@client.example'], users: [] });
  const shareFields = { authenticationId: profile.id, allowAllUsers: false, userNames: 'BOB@partner.example' };
  const share = await createShare(postern, shareFields);
  const bob = new Browser(postern);
  await bob.request(share.base, 'bob@PARTNER.example');
  assert.equal(await bob.enterCode(share.base, 'bob@partner.example', await codeFor('Bob@partner.example')), 200);
  const eve = new Browser(postern);
  await eve.request(share.base, 'eve@client.example');
  assert.equal(await eve.enterCode(share.base, 'eve@client.example', await codeFor('eve@client.example')), 403);
});

test('a visitor signs in at a portal with a code, and the link in the mail leads to the portal', async (t) => {
  const { postern, sink, profile, codeFor } = await startWithCodes(t);
  const base = `/p/${profile.viewId}`;
  const browser = new Browser(postern);
  assert.equal((await browser.request(base, ann)).status, 202);
  const code = await codeFor(ann);
  assert.equal(linkIn(sink.mails[0] ?? assert.fail()), `${postern.publicUrl}${base}#code=${code}`);
  const { status, body } = await browser.send(`${base}/sign-in`, jsonPostRequest({ email: ann, code }));
  assert.deepEqual([status, body.totalCount], [200, 1]);
});

test('the mail with a code is in the language of the profile, or else of the browser', async (t) => {
  const { postern, sink, share, profile } = await startWithCodes(t);
  const browser = new Browser(postern);
  await browser.request(share.base, ann, { 'accept-language': 'sv, nl-BE;q=0.9' });
  await sink.waitFor((mail) => headerOf(mail, 'Subject').startsWith('Uw inlogcode'));
  await postern.call('loginprofile/update', { id: profile.id, lang: 'fr' });
  await browser.request(share.base, ann, { 'accept-language': 'nl' });
  await sink.waitFor((mail) => headerOf(mail, 'Subject').startsWith('Votre code'));
});

test('a sign-in with a code ends when the user is deactivated or gets another address, or the address is no longer allowed', async (t) => {
  const allow = ['bob@partner.example', 'eve@partner.example'];
  const { postern, profile, share, users, codeFor } = await startWithCodes(t, { allow, users: ['ann', 'amy', 'kim'] });
  const browsers: Record<string, Browser> = {};
  for (const email of [ann, 'amy@example.com', 'kim@example.com', ...allow]) {
    const browser = new Browser(postern);
    await browser.request(share.base, email);
    assert.equal(await browser.enterCode(share.base, email, await codeFor(email)), 200);
    browsers[email] = browser;
  }
  const update = (name: string, change: object) => postern.call('accessuser/update', { id: users[name], authId: profile.id, ...change });
  await update('ann', { active: false });
  await update('amy', { email: 'amy@elsewhere.example' });
  const configuration = JSON.stringify({ allow: ['zoe@partner.example', 'bob@partner.example'] });
  await postern.call('loginprofile/update', { id: profile.id, configuration });
  const statuses = Object.entries(browsers).map(async ([email, browser]) => [email, (await browser.send(`${share.base}/list`)).status]);
  assert.deepEqual(Object.fromEntries(await Promise.all(statuses)), {
    [ann]: 401,
    'amy@example.com': 401,
    'kim@example.com': 200,
    'bob@partner.example': 200,
    'eve@partner.example': 401,
  });
});

test('without a mail server, a request for a code is refused, and the response says why', async (t) => {
  const { postern, share } = await startWithCodes(t, { environment: { POSTERN_SMTP_URL: '', POSTERN_MAIL_FROM: '' } });
  const { status, body } = await new Browser(postern).request(share.base, ann);
  assert.deepEqual([status, body.code], [503, 'signInUnavailable']);
});

test('the refusal of a sign-in or code names the wrong field, or says that the link sends no codes or needs no sign-in', async (t) => {
  const { postern, share } = await startWithCodes(t);
  const passwordProfile = await postern.call('loginprofile/add', { title: 'Door', typeId: 2, password: 'correct horse' });
  const passwordShare = await createShare(postern, { authenticationId: passwordProfile.id });
  const openShare = await createShare(postern);
  const browser = new Browser(postern);
  const detail = async (path: string, body: object) => (await browser.send(path, jsonPostRequest(body))).body.detail;
  assert.match(await detail(`${share.base}/sign-in/code`, {}), /email/);
  assert.match(await detail(`${share.base}/sign-in/code`, { email: 'ann' }), /email: must be an e-mail address/);
  assert.match(await detail(`${share.base}/sign-in`, {}), /email and code/);
  assert.match(await detail(`${share.base}/sign-in`, { email: ann }), /code: is required/);
  assert.match(await detail(`${share.base}/sign-in`, { username: 'ann', password: 'x' }), /username: must not be given/);
  assert.match(await detail(`${passwordShare.base}/sign-in`, { email: ann, code: '1' }), /email: must not be given/);
  assert.match(await detail(`${passwordShare.base}/sign-in`, {}), /password: is required/);
  assert.match(await detail(`${passwordShare.base}/sign-in/code`, { email: ann }), /does not send codes/);
  assert.match(await detail(`${openShare.base}/sign-in/code`, { email: ann }), /needs no sign-in/);
});

test('after an hour, codes are deleted from the database', async (t) => {
  const clock = settableClock();
  const { postern, share, codeFor } = await startWithCodes(t, { replacements: { ports: { clock } } });
  const browser = new Browser(postern);
  await browser.request(share.base, ann);
  await codeFor(ann);
  await browser.request(share.base, 'nobody@example.com');
  clock.advance(hour + minute);
  const { deleteExpiredRows } = await import('#features/jobs/delete-expired-rows.ts');
  await deleteExpiredRows(postern.ports);
  assert.deepEqual(await postern.ports.store.read.selectFrom('sign_in_code').selectAll().execute(), []);
});

/** Adds the mail with a code to Postern, which must have no mail server. */
const addCodeMail = ({ ports }: TestPostern) =>
  ports.store.write((tx) => {
    const mail = { kind: 'code', content: { sealed: 'an encrypted code' } } as const;
    return addMail(ports, tx, { tid: 1, shareId: null, mail, language: 'en', recipients: [''], domain: 'example.com' });
  }, 'job');

const storedMails = async ({ ports: { store } }: TestPostern) =>
  (await store.read.selectFrom('mail_content').select('kind').execute()).map(({ kind }) => kind);

test('a code that could not be mailed in time is no longer in the database', async (t) => {
  const postern = await startPostern(t);
  const { store } = postern.ports;
  await addCodeMail(postern);
  await giveUpOldDeliveries(postern.ports, 'codes');
  assert.deepEqual(await storedMails(postern), ['code']);
  await store.write((tx) => tx.updateTable('delivery').set({ created_at: 0 }).execute(), 'job');
  await giveUpOldDeliveries(postern.ports, 'codes');
  assert.deepEqual(await storedMails(postern), []);
  const { state } = await store.read.selectFrom('delivery').select('state').executeTakeFirstOrThrow();
  assert.equal(state, 'failed');
});

test('after the secret key is lost, no mail with a code is left in the database', async (t) => {
  const postern = await startPostern(t);
  const { store, random } = postern.ports;
  await addCodeMail(postern);
  await store.write((tx) => forgetSecrets(tx, keyVault('another-secret-key', random)), 'job');
  assert.deepEqual(await storedMails(postern), []);
});

test('after the secret key is lost, codes that were encrypted with the old key do not stop the mails with new codes', async (t) => {
  const data = await temporaryFolder(t);
  const { postern, profile, share } = await startWithCodes(t, { data, environment: mailSettings });
  await new Browser(postern).request(share.base, ann);
  const { store, random } = postern.ports;
  await store.write(async (tx) => {
    await tx.updateTable('delivery').set({ attempts: 0, state: 'waiting', due_at: 0 }).execute(); // as if nobody had tried to send it yet
    await forgetSecrets(tx, keyVault('another-secret-key', random));
  }, 'job');
  await postern.stop();
  const environment = { POSTERN_SECRET_KEY: 'another-secret-key' };
  const { postern: restarted, sink } = await startWithMail(t, { data, environment });
  await restarted.call('loginprofile/update', { id: profile.id, configuration: '{}' });
  await new Browser(restarted).request(share.base, ann);
  assert.deepEqual((await sink.waitFor()).to, [ann]);
});
