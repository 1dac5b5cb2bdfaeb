import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createUsersProfile, type Json, newShare, startPostern } from '../start.ts';
import { fieldErrorsOf } from './field-errors.ts';
import { addKey } from './keys.ts';

const status = async (answer: Promise<Json>) => (await answer).status;

test('updateSharableLink without a viewId creates one of 22 characters, and the old link stops working at once', async (t) => {
  const postern = await startPostern(t);
  const { id, viewId: oldViewId } = await postern.call('share/add', newShare());
  const answer = await postern.call('share/updateSharableLink', { id });
  const { viewId } = await postern.call('share/get', { id });
  assert.match(viewId, /^[A-Za-z0-9_-]{22}$/);
  assert.notEqual(viewId, oldViewId);
  assert.equal(answer.status, 200);
  assert.equal((await postern.visit(`/s/${oldViewId}/visit`)).status, 404);
  assert.equal((await postern.visit(`/s/${viewId}/visit`)).status, 200);
});

test('a viewId has 4 to 64 letters, digits, _ or -, and at least 8 for a share without sign-in', async (t) => {
  const postern = await startPostern(t);
  const { id: openShare } = await postern.call('share/add', newShare());
  const profile = await createUsersProfile(postern);
  const { id: protectedShare } = await postern.call('share/add', newShare({ authenticationId: profile.id }));
  const setViewId = (id: number, viewId: unknown) => status(postern.send('share/updateSharableLink', { id, viewId }));
  for (const viewId of ['abc', 'x'.repeat(65), 'with space', 'a/b/c/d/e', 'ümläute-ja', 'dots.are.not', '........', 7, true])
    assert.equal(await setViewId(protectedShare, viewId), 400, String(viewId));
  assert.equal(await setViewId(protectedShare, 'aB_-'), 200);
  assert.equal(await setViewId(protectedShare, 'y'.repeat(64)), 200);
  assert.ok([400, 409].includes(await setViewId(openShare, 'seven77')));
  assert.equal(await setViewId(openShare, 'eight888'), 200);
  for (const viewId of ['abc', 'dots.are.not'])
    assert.deepEqual(fieldErrorsOf(await postern.send('loginprofile/updateViewId', { id: profile.id, viewId })), ['viewId']);
  assert.equal(await status(postern.send('loginprofile/updateViewId', { id: profile.id, viewId: 'port' })), 200);
});

test('a share with a short viewId cannot lose its sign-in by a change of its profile or of the profile type', async (t) => {
  const postern = await startPostern(t);
  const profile = await createUsersProfile(postern);
  const { id } = await postern.call('share/add', newShare({ authenticationId: profile.id }));
  await postern.call('share/updateSharableLink', { id, viewId: 'tiny' });
  const profileChange = await postern.send('share/update', { ...(await postern.call('share/get', { id })), authenticationId: 1 });
  assert.equal(profileChange.status, 409);
  assert.match(profileChange.body.detail, /updateSharableLink/);
  const typeChange = await postern.send('loginprofile/update', { id: profile.id, typeId: 1 });
  assert.equal(typeChange.status, 409);
  assert.match(typeChange.body.detail, /updateSharableLink/);
  assert.equal((await postern.call('share/get', { id })).authTypeId, 3);
});

test('a viewId is unique across shares and profiles regardless of case, and a conflict does not reveal its owner', async (t) => {
  const postern = await startPostern(t);
  const [a, b] = [await postern.call('share/add', newShare()), await postern.call('share/add', newShare())];
  const profile = await postern.call('loginprofile/add', { title: 'Clients' });
  await postern.call('share/updateSharableLink', { id: a.id, viewId: 'Summer-2026' });
  const refusal = await postern.send('share/updateSharableLink', { id: b.id, viewId: 'SUMMER-2026' });
  assert.equal(refusal.status, 409);
  assert.doesNotMatch(JSON.stringify(refusal.body), new RegExp(`"id":|tenant|profile|share ${a.id}`, 'i'));
  assert.equal(await status(postern.send('loginprofile/updateViewId', { id: profile.id, viewId: 'summer-2026' })), 409);
  assert.equal(await status(postern.send('loginprofile/update', { id: profile.id, viewId: 'summer-2026' })), 409);
  assert.equal((await postern.visit('/s/SUMMER-2026/visit')).status, (await postern.visit('/s/summer-2026/visit')).status);
});

for (const [name, over] of [
  ['share/updateSharableLink', {}],
  ['loginprofile/updateViewId', {}],
  ['loginprofile/update', { title: 'Guess' }],
] as const)
  test(`${name} returns 429 with Retry-After after 20 viewId conflicts in an hour, for that key only`, async (t) => {
    let now = Date.parse('2026-05-01T00:00:00Z');
    const postern = await startPostern(t, { replacements: { ports: { clock: { now: () => now } } } });
    const { viewId } = await postern.call('share/add', newShare());
    const { id } =
      name === 'share/updateSharableLink' ? await postern.call('share/add', newShare()) : await postern.call('loginprofile/add', {});
    for (let conflict = 1; conflict <= 20; conflict += 1)
      assert.equal(await status(postern.send(name, { id, viewId, ...over })), 409, `conflict ${conflict}`);
    const answer = await postern.send(name, { id, viewId, ...over });
    assert.equal(answer.status, 429);
    assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    const other = await addKey(postern, 'admin');
    assert.equal(await status(postern.send(name, { id, viewId, ...over }, { key: other })), 409);
    now += 3_600_000;
    assert.equal(await status(postern.send(name, { id, viewId, ...over })), 409);
  });

test('a tenant gets 429 after 200 viewId conflicts in an hour, even if it uses new keys', async (t) => {
  const postern = await startPostern(t);
  const { viewId } = await postern.call('share/add', newShare());
  const { id } = await postern.call('share/add', newShare());
  const answers = [];
  for (let keyNumber = 0; keyNumber < 11; keyNumber += 1) {
    const key = await addKey(postern, 'admin', { name: `key ${keyNumber}` });
    for (let conflict = 0; conflict < 20; conflict += 1)
      answers.push(await status(postern.send('share/updateSharableLink', { id, viewId }, { key, query: { dryRun: 'true' } })));
  }
  assert.deepEqual([answers.indexOf(429), answers.filter((answer) => answer === 409).length], [200, 200]);
});

test('if many viewIds are tried at the same time, at most 40 are reported as taken, and many others return 429', async (t) => {
  const postern = await startPostern(t);
  const { id } = await postern.call('share/add', newShare());
  for (let number = 0; number < 60; number += 1)
    await postern.call('share/updateSharableLink', {
      id: (await postern.call('share/add', newShare())).id,
      viewId: `taken-${number}-long`,
    });
  const guesses = Array.from({ length: 120 }, (_, number) => `${number % 2 === 0 ? 'taken' : 'free'}-${number >> 1}-long`);
  const answers = await Promise.all(
    guesses.map((viewId) => postern.send('share/updateSharableLink', { id, viewId }, { query: { dryRun: 'true' } })),
  );
  const count = (status: number) => answers.filter((answer) => answer.status === status).length;
  assert.ok(count(409) >= 20 && count(409) <= 40, `${count(409)} are reported as taken`);
  assert.ok(count(429) >= 40, `${count(429)} are refused`);
});

test('viewId conflicts in dry runs count toward the rate limit, so dry runs cannot be used to find links', async (t) => {
  const postern = await startPostern(t);
  const { viewId } = await postern.call('share/add', newShare());
  const { id } = await postern.call('share/add', newShare());
  for (let conflict = 1; conflict <= 20; conflict += 1)
    assert.equal(await status(postern.send('share/updateSharableLink', { id, viewId }, { query: { dryRun: 'true' } })), 409);
  assert.equal(await status(postern.send('share/updateSharableLink', { id, viewId }, { query: { dryRun: 'true' } })), 429);
});

test('a change of link requires an id; share/update refuses a new viewId, path, location or tid, and refers to updateSharableLink for the viewId', async (t) => {
  const postern = await startPostern(t);
  assert.deepEqual(fieldErrorsOf(await postern.send('share/updateSharableLink', { viewId: 'some-view-id' })), ['id']);
  assert.deepEqual(fieldErrorsOf(await postern.send('loginprofile/updateViewId', {})), ['id']);
  const { id } = await postern.call('share/add', newShare());
  const share = await postern.call('share/get', { id });
  for (const [field, value] of [
    ['viewId', 'some-view-id'],
    ['path', '/welcome.txt'],
    ['location', 'other'],
    ['tid', 2],
  ] as const) {
    const answer = await postern.send('share/update', { ...share, [field]: value });
    assert.deepEqual([answer.status, fieldErrorsOf(answer)], [400, [field]]);
    if (field === 'viewId') assert.match(JSON.stringify(answer.body.errors), /updateSharableLink/);
  }
});

test('share/add refuses fields that Postern sets itself', async (t) => {
  const postern = await startPostern(t);
  for (const name of [
    'id',
    'viewId',
    'viewUrl',
    'authViewId',
    'authViewUrl',
    'enableAuthview',
    'tid',
    'authTypeId',
    'authTypeIdStr',
    'allowedLogins',
    'createdOwner',
    'updatedOwner',
    'createDateTime',
    'updateDateTime',
    'etag',
  ])
    assert.deepEqual(fieldErrorsOf(await postern.send('share/add', newShare({ [name]: 'x' }))), [name]);
});
