import assert from 'node:assert/strict';
import { test } from 'node:test';
import { copyShare } from '../parts/copy-share.ts';
import { logLines } from '../parts/log-lines.ts';
import { cookieOf, createUsersProfile, signIn, startPostern } from '../start.ts';
import { basicAuthorization, changeShare, createShare, jsonPostRequest } from './visiting.ts';

const password = 'correct horse battery';
const titles = (body: { shares: { title: string }[] }) => body.shares.map(({ title }) => title).sort();

test('a portal lists exactly the shares that admit the visitor now', async (t) => {
  const postern = await startPostern(t);
  const { id, viewId } = await createUsersProfile(postern, ['ann', 'bob']);
  const other = await createUsersProfile(postern, ['ann'], { title: 'Others' });
  const addShare = (title: string, over: object = {}) => createShare(postern, { title, authenticationId: id, ...over });
  const openLink = await addShare('open', { description: 'words', validityEndDate: '2099-01-01T00:00:00.000Z' });
  await addShare('for ann', { allowAllUsers: false, userNames: 'ann' });
  await addShare('for bob', { allowAllUsers: false, userNames: 'bob' });
  await addShare('stopped', { active: false });
  await addShare('later', { validityStartDate: '2098-01-01T00:00:00.000Z' });
  await addShare('ended', { validityEndDate: '2001-01-01T00:00:00.000Z' });
  await createShare(postern, { title: 'elsewhere', authenticationId: other.id });
  await createShare(postern, { title: 'public' });

  const before = await postern.visit(`/p/${viewId}/visit`);
  assert.equal(before.body.signIn.signedIn, false);
  assert.deepEqual([before.body.visitor, before.body.shares], [null, []]);
  const response = await postern.visit(`/p/${viewId}/sign-in`, jsonPostRequest({ username: 'ann', password }));
  assert.equal(response.status, 200);
  const headers = { cookie: cookieOf(response) };
  const { body } = await postern.visit(`/p/${viewId}/visit`, { headers });
  assert.deepEqual(body, response.body);
  assert.deepEqual(titles(body), ['for ann', 'open']);
  assert.equal('share' in body, false);
  assert.deepEqual(body.visitor, { name: 'ann', email: 'ann@example.com' });
  const openShare = body.shares.find(({ title }: { title: string }) => title === 'open');
  assert.deepEqual(openShare, {
    title: 'open',
    description: 'words',
    viewUrl: postern.publicUrl + openLink.base,
    folder: true,
    validityEndDate: '2099-01-01T00:00:00.000Z',
  });

  await changeShare(postern, openLink.id, { active: false });
  assert.deepEqual(titles((await postern.visit(`/p/${viewId}/visit`, { headers })).body), ['for ann']);
});

test('a sign-in at the portal gives access to its shares, and a sign-out there ends the access', async (t) => {
  const postern = await startPostern(t);
  const { id, viewId } = await createUsersProfile(postern);
  const { base } = await createShare(postern, { authenticationId: id });
  const headers = { cookie: await signIn(postern, `/p/${viewId}`, 'ann') };
  assert.equal((await postern.visit(`${base}/list`, { headers })).status, 200);
  assert.equal((await postern.visit(`/p/${viewId}/sign-out`, { method: 'POST', headers })).status, 204);
  assert.equal((await postern.visit(`${base}/list`, { headers })).status, 401);
  assert.deepEqual((await postern.visit(`/p/${viewId}/visit`, { headers })).body.shares, []);
});

test('a login profile without sign-in has no portal', async (t) => {
  const postern = await startPostern(t);
  const { viewId } = await postern.call('loginprofile/get', { id: 1 });
  for (const path of ['', '/visit']) assert.equal((await postern.visit(`/p/${viewId}${path}`)).status, 404, path);
  for (const path of ['/sign-in', '/sign-out'])
    assert.equal((await postern.visit(`/p/${viewId}${path}`, jsonPostRequest({ username: 'a', password: 'b' }))).status, 404, path);
  assert.equal((await postern.visit(`/p/${viewId}/visit`)).body.code, 'linkUnknown');
});

test('a portal lists up to a thousand shares per page, sorted by title, with the total count', async (t) => {
  const postern = await startPostern(t);
  const { id, viewId } = await createUsersProfile(postern, ['ann', 'bob']);
  const { id: first } = await createShare(postern, { title: 'share', authenticationId: id });
  await createShare(postern, { title: 'another for bob', authenticationId: id, allowAllUsers: false, userNames: 'bob' });
  const last = 1204;
  await copyShare(postern, first, last);
  const headers = { cookie: await signIn(postern, `/p/${viewId}`, 'ann') };
  const page = async (query: string) => (await postern.visit(`/p/${viewId}/visit${query}`, { headers })).body;
  const firstPage = await page('');
  assert.deepEqual([firstPage.shares.length, firstPage.totalCount], [1000, last + 1]);
  const rest = await page('?startIndex=1000');
  assert.deepEqual([rest.shares.length, rest.totalCount], [last - 999, last + 1]);
  const titlesOfPages = [...firstPage.shares, ...rest.shares].map(({ title }) => title);
  assert.deepEqual(titlesOfPages, titlesOfPages.toSorted());
  assert.equal(new Set(titlesOfPages).size, last + 1);
  assert.deepEqual(
    (await page('?startIndex=1&pageSize=2')).shares.map(({ title }: { title: string }) => title),
    ['share 0000', 'share 0001'],
  );
  for (const query of ['?pageSize=0', '?pageSize=1001', '?startIndex=-1', '?page=2'])
    assert.equal((await postern.visit(`/p/${viewId}/visit${query}`, { headers })).status, 400, query);
});

test('a portal is not found under /s/, and a share is not found under /p/', async (t) => {
  const postern = await startPostern(t);
  const { id, viewId } = await createUsersProfile(postern);
  const share = await createShare(postern, { authenticationId: id });
  assert.equal((await postern.visit(`/s/${viewId}/visit`)).status, 404);
  assert.equal((await postern.visit(`/p/${share.viewId}/visit`)).status, 404);
});

test('a portal refuses addresses outside the IP range of its login profile', async (t) => {
  const postern = await startPostern(t);
  const { viewId } = await createUsersProfile(postern, ['ann'], { ipRange: '203.0.113.0/24' });
  for (const path of ['', '/visit']) assert.equal((await postern.visit(`/p/${viewId}${path}`)).status, 403, path);
  assert.equal((await postern.visit(`/p/${viewId}/sign-in`, jsonPostRequest({ username: 'ann', password }))).status, 403);
});

test('a portal whose viewId was replaced is not found at its old address', async (t) => {
  const postern = await startPostern(t);
  const { id, viewId } = await createUsersProfile(postern);
  const { viewId: newViewId } = await postern.call('loginprofile/updateViewId', { id });
  assert.equal((await postern.visit(`/p/${viewId}/visit`)).status, 404);
  assert.equal((await postern.visit(`/p/${newViewId}/visit`)).status, 200);
});

test('a program can visit a portal with Basic authentication', async (t) => {
  const postern = await startPostern(t);
  const { id, viewId } = await createUsersProfile(postern);
  await createShare(postern, { title: 'open', authenticationId: id });
  const response = await postern.visit(`/p/${viewId}/visit`, { headers: { authorization: basicAuthorization('ann', password) } });
  assert.deepEqual(titles(response.body), ['open']);
  assert.equal((await postern.visit(`/p/${viewId}/visit`, { headers: { authorization: basicAuthorization('ann', 'wrong') } })).status, 401);
});

test('the HTML page of a portal or link contains no titles and no inline scripts', async (t) => {
  const postern = await startPostern(t);
  const { id, viewId } = await createUsersProfile(postern, ['ann'], { title: 'Very secret profile' });
  const { base } = await createShare(postern, { title: 'Very secret title', authenticationId: id });
  for (const path of [base, `/p/${viewId}`]) {
    const page = await postern.visit(path, { headers: { accept: 'text/html' } });
    assert.equal(page.status, 200);
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
    assert.doesNotMatch(page.body, /secret/);
    assert.doesNotMatch(page.body, /<script(?![^>]*\ssrc=)/, 'no inline script');
  }
});

test('a hundred cancelled portal visits log no error, and the next visit is answered', async (t) => {
  const { log, errors } = logLines();
  const postern = await startPostern(t, { replacements: { log } });
  const profile = await createUsersProfile(postern);
  const { base } = await createShare(postern, { authenticationId: profile.id });
  const { viewId } = await postern.call('loginprofile/get', { id: profile.id });
  const cookie = await signIn(postern, base, 'ann');
  const visit = (signal?: AbortSignal) => postern.visit(`/p/${viewId}/visit`, { headers: { cookie }, ...(signal ? { signal } : {}) });
  const cancellation = new AbortController();
  const cancelledVisits = Array.from({ length: 100 }, () => visit(cancellation.signal).catch(() => null));
  cancellation.abort();
  await Promise.all(cancelledVisits);
  assert.equal((await visit()).status, 200);
  assert.deepEqual(errors(), []);
});
