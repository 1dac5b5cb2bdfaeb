import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { environmentKeyName } from '#core/records/api-key.ts';
import { runIfClockIsRight } from '#features/jobs/clock-check.ts';
import { correctDueTimes } from '#features/mail/correct-due-times.ts';
import { Browser, startWithCodes } from '../mail/code-visitor.ts';
import { adminKey, cookieOf, createUsersProfile, signIn, startPostern } from '../start.ts';
import { createShare, hour, minute, settableClock } from './visiting.ts';

const year = 365 * 24 * hour;
const ann = 'ann@example.com';

test('a session that began while the clock was a year ahead ends when the clock is right again', async (t) => {
  const clock = settableClock();
  const postern = await startPostern(t, { replacements: { ports: { clock } } });
  const profile = await createUsersProfile(postern);
  const share = await createShare(postern, { authenticationId: profile.id });
  clock.advance(year);
  const cookie = await signIn(postern, share.base, 'ann');
  const list = async () => (await postern.visit(`${share.base}/list`, { headers: { cookie } })).status;
  assert.equal(await list(), 200);
  clock.advance(-year);
  assert.equal(await list(), 401);
});

test('a token and an operator session that began while the clock was a year ahead are refused when the clock is right again', async (t) => {
  const clock = settableClock();
  const postern = await startPostern(t, { replacements: { ports: { clock } } });
  await postern.call('operator/add', {
    name: 'olga',
    role: 'admin',
    password: 'correct horse battery',
    confirmPassword: 'correct horse battery',
  });
  clock.advance(year);
  const { token } = await postern.call('login', { username: environmentKeyName, secretkey: adminKey }, { key: null });
  const credentials = { name: 'olga', password: 'correct horse battery' };
  const cookie = cookieOf(await postern.send('operator/signIn', credentials, { key: null }));
  const statuses = async () => [
    (await postern.send('share/search', {}, { key: token })).status,
    (await postern.send('share/search', {}, { key: null, headers: { cookie, origin: postern.apiUrl } })).status,
  ];
  assert.deepEqual(await statuses(), [200, 200]);
  clock.advance(-year);
  assert.deepEqual(await statuses(), [401, 401]);
});

test('codes that were sent while the clock was a year ahead are no longer valid when the clock is right again, and new ones are sent', async (t) => {
  const clock = settableClock();
  const { postern, share, codeFor } = await startWithCodes(t, { replacements: { ports: { clock } } });
  clock.advance(year);
  const browser = new Browser(postern);
  for (let number = 0; number < 10; number += 1) await browser.request(share.base, ann);
  const oldCode = await codeFor(ann, 10);
  clock.advance(-year);
  assert.equal(await browser.enterCode(share.base, ann, oldCode), 401);
  await browser.request(share.base, ann);
  assert.equal(await browser.enterCode(share.base, ann, await codeFor(ann, 11)), 200);
});

test('viewId conflicts that were counted while the clock was a year ahead do not count when the clock is right again', async (t) => {
  const clock = settableClock();
  const postern = await startPostern(t, { replacements: { ports: { clock } } });
  const [first, second] = [await createShare(postern), await createShare(postern)];
  const setViewId = async (viewId: string) => (await postern.send('share/updateSharableLink', { id: second.id, viewId })).status;
  clock.advance(year);
  while ((await setViewId(first.viewId)) === 409);
  assert.equal(await setViewId(first.viewId), 429);
  clock.advance(-year);
  assert.equal(await setViewId('a-free-name'), 200);
});

test('mails whose due time was computed while the clock was a year ahead become due when the clock is right again', async (t) => {
  const { postern } = await startWithCodes(t, { environment: { POSTERN_SMTP_URL: 'smtp://127.0.0.1:9' } });
  const { store } = postern.ports;
  const { id } = await createShare(postern, {});
  await postern.call('share/invite', { id, emails: ann });
  const ahead = sql<number>`${store.dialect.now} + ${year}`;
  await store.write((tx) => tx.updateTable('delivery').set({ due_at: ahead, created_at: ahead }).execute(), 'job');
  await correctDueTimes(postern.ports);
  const late = sql<number>`${store.dialect.now} + ${minute}`;
  const dueMails = store.read.selectFrom('delivery').select('id').where('due_at', '<', late).where('created_at', '<', late);
  assert.equal((await dueMails.execute()).length, 1);
});

test('a process whose clock is 500 days ahead deletes nothing from a database that other processes use', async (t) => {
  const clock = settableClock();
  const { ports } = await startPostern(t, { replacements: { ports: { clock } } });
  const events: string[] = [];
  const sharedPorts = { clock, store: { ...ports.store, isShared: true } };
  const run = () =>
    runIfClockIsRight(
      sharedPorts,
      (line) => events.push(line),
      async () => void events.push('deleted'),
    );
  await run();
  clock.advance(500 * 24 * hour);
  await run();
  assert.equal(events[0], 'deleted');
  assert.match(events[1] ?? '', /differs from that of the database server by 7200\d\d minutes/);
});
