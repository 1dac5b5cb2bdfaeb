import assert from 'node:assert/strict';
import { rename } from 'node:fs/promises';
import { test } from 'node:test';
import { sql } from 'kysely';
import { queryPlan } from '../parts/query-plan.ts';
import { until } from '../ports/until.ts';
import { type Json, newShare, startPostern } from '../start.ts';
import { addKey, addTenant } from './keys.ts';

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

test('the overview lists active shares that end within two weeks, in order of their end', async (t) => {
  const postern = await startPostern(t);
  const addShare = (title: string, days: number, over: object = {}) =>
    postern.call('share/add', newShare({ title, validityEndDate: inDays(days), ...over }));
  await addShare('In ten days', 10);
  await addShare('Tomorrow', 1);
  await addShare('In a month', 30);
  await addShare('Over', -1);
  await addShare('Stopped', 2, { active: false });
  await postern.call('share/add', newShare({ title: 'Without end' }));
  const { endingSoon } = await postern.call('overview/get');
  assert.deepEqual(
    endingSoon.map(({ title }: Json) => title),
    ['Tomorrow', 'In ten days'],
  );
});

test('the overview counts visits, downloads and uploads per day, for the tenant of the caller only', async (t) => {
  const postern = await startPostern(t);
  const { viewId } = await postern.call('share/add', newShare());
  await postern.visit(`/s/${viewId}/visit`);
  await postern.visit(`/s/${viewId}/file/welcome.txt`);
  await postern.visit(`/s/${viewId}/file/new.txt`, { method: 'PUT', body: 'new' });
  await until(async () => (await postern.call('overview/get')).byDay[0]?.visits === 1); // the visit is recorded in parallel with its response
  const { byDay } = await postern.call('overview/get');
  assert.deepEqual(byDay, [{ date: new Date().toISOString().slice(0, 10), visits: 1, downloads: 1, uploads: 1 }]);
  const { key } = await addTenant(postern);
  assert.deepEqual((await postern.call('overview/get', {}, { key })).byDay, []);
});

test('the overview shows unavailable locations and the number of waiting mails', async (t) => {
  const postern = await startPostern(t);
  const { viewId } = await postern.call('share/add', newShare({ alertUpload: true, notifyEmails: 'a@example.com' }));
  await postern.visit(`/s/${viewId}/file/new.txt`, { method: 'PUT', body: 'new' });
  const before = await postern.call('overview/get', {}, { key: await addKey(postern, 'reader') });
  assert.deepEqual([before.locations[0].name, before.locations[0].answers, before.mailsWaiting, before.mail], ['local', true, 1, false]);
  await rename(postern.files, `${postern.files}-away`);
  assert.equal((await postern.call('overview/get')).locations[0].answers, false);
});

test('share/lastVisits returns the time of the last visit, and nothing for shares of other tenants', async (t) => {
  const postern = await startPostern(t);
  const visitedShare = await postern.call('share/add', newShare());
  const unvisitedShare = await postern.call('share/add', newShare());
  const begin = new Date().toISOString();
  await postern.visit(`/s/${visitedShare.viewId}/visit`);
  const lastVisits = () => postern.call('share/lastVisits', { ids: [visitedShare.id, unvisitedShare.id, 999] });
  await until(async () => (await lastVisits()).list.length > 0); // the visit is recorded in parallel with its response
  const { list } = await lastVisits();
  assert.deepEqual(
    list.map(({ id }: Json) => id),
    [visitedShare.id],
  );
  assert.ok(list[0].lastVisitDateTime >= begin);
  const { key } = await addTenant(postern);
  assert.deepEqual((await postern.call('share/lastVisits', { ids: [visitedShare.id] }, { key })).list, []);
});

test('shares can be filtered by location, and access users by whether they are active', async (t) => {
  const postern = await startPostern(t);
  const [local] = (await postern.call('location/search')).list;
  await postern.call('location/add', { name: 'second', kind: 'local', configuration: local.configuration });
  await postern.call('share/add', newShare({ title: 'There', location: 'second' }));
  await postern.call('share/add', newShare({ title: 'Here' }));
  const titles = async (location: string) => (await postern.call('share/search', { location })).list.map(({ title }: Json) => title);
  assert.deepEqual([await titles('second'), await titles('local'), await titles('nowhere')], [['There'], ['Here'], []]);
  const { id: authId } = await postern.call('loginprofile/add', { typeId: 3 });
  await postern.call('accessuser/add', { username: 'ann', active: true, authId });
  await postern.call('accessuser/add', { username: 'bob', active: false, authId });
  const names = async (active: boolean) => (await postern.call('accessuser/search', { active })).list.map(({ username }: Json) => username);
  assert.deepEqual([await names(true), await names(false)], [['ann'], ['bob']]);
});

test('share/lastVisits uses the index of audit entries by share, even if PostgreSQL expects one share to have all audit entries', async (t) => {
  const plan = queryPlan(t, '"audit"."action" in');
  const postern = await startPostern(t);
  const { store } = postern.ports;
  const { id } = await postern.call('share/add', newShare());
  await postern.call('share/lastVisits', { ids: [id] }, { method: 'POST' });
  if (store.dialect.name === 'sqlite') return; // the expectation of PostgreSQL does not matter to SQLite
  await store.write(async (tx) => {
    const { id: entry, ...row } = await tx.selectFrom('audit').selectAll().limit(1).executeTakeFirstOrThrow();
    const columns = sql.join(Object.keys(row).map((column) => sql.ref(column)));
    await sql`insert into audit (${columns}) select ${columns} from audit cross join generate_series(1, 20000) where audit.id = ${entry}`.execute(
      tx,
    );
    await tx.updateTable('audit').set({ share_id: id, actor_kind: 'visitor', outcome: 'done', action: 'list' }).execute();
  }, 'job');
  await sql`analyze audit`.execute(store.read);
  assert.match(await plan(store), /using audit_share/i);
});
