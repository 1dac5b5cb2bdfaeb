import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cookieOf, createUsersProfile, signIn, startPostern, type TestResponse } from '../start.ts';
import { createShare, jsonPostRequest, sendPath } from './visiting.ts';

const password = 'correct horse battery';
const comparableFields = ({ status, body }: TestResponse) => ({ status, code: body.code, detail: body.detail, title: body.title });

test('before sign-in, a visit returns how to sign in and no data of the share', async (t) => {
  const postern = await startPostern(t);
  const { id } = await createUsersProfile(postern, ['ann'], { startupMessage: 'Hello', lang: 'en' });
  const { base } = await createShare(postern, { authenticationId: id, title: 'Very secret title', description: 'Very secret words' });
  const answer = await postern.visit(`${base}/visit`);
  assert.equal(answer.status, 200);
  const { signIn: signInState, ...rest } = answer.body;
  assert.deepEqual(rest, { visitor: null, share: null });
  const { typeId, typeString, title, startupMessage, lang, signedIn } = signInState;
  assert.deepEqual(
    { typeId, typeString, title, startupMessage, lang, signedIn },
    { typeId: 3, typeString: 'USERS', title: 'Clients', startupMessage: 'Hello', lang: 'en', signedIn: false },
  );
  assert.doesNotMatch(JSON.stringify(answer.body), /secret/);
});

test('after sign-in, a visit returns the visitor and the permissions of the share', async (t) => {
  const postern = await startPostern(t);
  const { id } = await createUsersProfile(postern);
  const over = {
    authenticationId: id,
    title: 'Quarter 4',
    startupMessage: 'Hi',
    canUpload: false,
    canRename: false,
    validityEndDate: '2099-01-01T00:00:00.000Z',
  };
  const { base } = await createShare(postern, over);
  const response = await postern.visit(`${base}/sign-in`, jsonPostRequest({ username: 'ANN', password }));
  assert.equal(response.status, 200);
  const visit = await postern.visit(`${base}/visit`, { headers: { cookie: cookieOf(response) } });
  assert.deepEqual(visit.body, response.body);
  assert.equal(visit.body.signIn.signedIn, true);
  assert.deepEqual(visit.body.visitor, { name: 'ann', email: 'ann@example.com' });
  const { name, ...share } = visit.body.share;
  assert.equal(typeof name, 'string');
  assert.deepEqual(share, {
    title: 'Quarter 4',
    description: '',
    startupMessage: 'Hi',
    folder: true,
    can: { view: true, download: true, downloadFolder: true, upload: false, createFolder: true, rename: false, delete: true },
    copyProtect: false,
    marked: false,
    officePages: postern.ports.documents.drawsOffice,
    pageText: true,
    markedDownload: false,
    validityEndDate: '2099-01-01T00:00:00.000Z',
    maxFileSize: 2 ** 40,
    quota: null,
  });
});

test('if no sign-in is required, a visit returns the share at once and no visitor', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern, { path: '/welcome.txt', folder: false });
  const { body } = await postern.visit(`${base}/visit`);
  assert.equal(body.signIn.signedIn, true);
  assert.equal(body.signIn.typeString, 'PUBLIC');
  assert.equal(body.visitor, null);
  assert.equal(body.share.name, 'welcome.txt');
  assert.equal(body.share.folder, false);
});

test('unknown users, inactive users and users without a password get the same response as a wrong password', async (t) => {
  const postern = await startPostern(t);
  const { id, users } = await createUsersProfile(postern, ['ann', 'bob']);
  await postern.call('accessuser/update', { id: users['bob'], authId: id, active: false });
  await postern.call('accessuser/add', { username: 'nopassword', active: true, authId: id });
  const { base } = await createShare(postern, { authenticationId: id });
  const attempt = (username: string, secret: string) => postern.visit(`${base}/sign-in`, jsonPostRequest({ username, password: secret }));
  const wrong = await attempt('ann', 'wrong password');
  assert.equal(wrong.status, 401);
  assert.equal(wrong.headers.getSetCookie().length, 0);
  for (const name of ['nobody', 'bob', 'nopassword'])
    assert.deepEqual(comparableFields(await attempt(name, password)), comparableFields(wrong), name);
});

test('a password profile without a user name requires only the password', async (t) => {
  const postern = await startPostern(t);
  const profile = await postern.call('loginprofile/add', { title: 'Door', typeId: 2, password: 'open sesame' });
  const { base } = await createShare(postern, { authenticationId: profile.id });
  assert.equal((await postern.visit(`${base}/sign-in`, jsonPostRequest({ password: 'wrong' }))).status, 401);
  const response = await postern.visit(`${base}/sign-in`, jsonPostRequest({ password: 'open sesame' }));
  assert.equal(response.status, 200);
  assert.equal((await postern.visit(`${base}/list`, { headers: { cookie: cookieOf(response) } })).status, 200);
  assert.equal((await sendPath(postern, `${base}/list`)).status, 401);
});

test('a password profile with a user name requires both the user name and the password', async (t) => {
  const postern = await startPostern(t);
  const profile = await postern.call('loginprofile/add', { title: 'Door', typeId: 2, username: 'guest', password: 'open sesame' });
  const { base } = await createShare(postern, { authenticationId: profile.id });
  const status = async (body: object) => (await postern.visit(`${base}/sign-in`, jsonPostRequest(body))).status;
  assert.equal(await status({ password: 'open sesame' }), 400);
  assert.equal(await status({ username: 'other', password: 'open sesame' }), 401);
  assert.equal(await status({ username: 'guest', password: 'wrong' }), 401);
  assert.equal(await status({ username: 'guest', password: 'open sesame' }), 200);
});

test('a USERS profile requires a user name', async (t) => {
  const postern = await startPostern(t);
  const { id } = await createUsersProfile(postern);
  const { base } = await createShare(postern, { authenticationId: id });
  const answer = await postern.visit(`${base}/sign-in`, jsonPostRequest({ password }));
  assert.equal(answer.status, 400);
  assert.deepEqual(
    answer.body.errors.map(({ field }: { field: string }) => field),
    ['username'],
  );
});

test('a user can open only the shares of their own login profile', async (t) => {
  const postern = await startPostern(t);
  const [one, other] = [await createUsersProfile(postern, ['ann']), await createUsersProfile(postern, ['ann'], { title: 'Others' })];
  const [ownShare, secondOwnShare, otherShare] = [
    await createShare(postern, { authenticationId: one.id }),
    await createShare(postern, { authenticationId: one.id }),
    await createShare(postern, { authenticationId: other.id }),
  ];
  const cookie = await signIn(postern, ownShare.base, 'ann');
  assert.equal((await postern.visit(`${secondOwnShare.base}/list`, { headers: { cookie } })).status, 200);
  const renamedCookie = cookie.replace(`-${one.id}=`, `-${other.id}=`);
  for (const sentCookie of [cookie, renamedCookie])
    assert.equal((await postern.visit(`${otherShare.base}/list`, { headers: { cookie: sentCookie } })).status, 401);
});

test('the SAML addresses of a profile of another type get 404, even if a page of another site posts a form to them', async (t) => {
  const postern = await startPostern(t);
  assert.equal((await postern.visit('/sign-in/saml/1/metadata')).status, 404);
  const form = await postern.visit('/sign-in/saml/1', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'https://login.example.com', 'sec-fetch-site': 'cross-site' },
    body: 'SAMLResponse=x&RelayState=y',
  });
  assert.equal(form.status, 404);
});
