import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { queryPlan } from '../parts/query-plan.ts';
import { type Json, newShare, startPostern, type TestPostern } from '../start.ts';

/** Follows the Link headers from the first page to the last. @param between called after each page */
async function walk(postern: TestPostern, name: string, query: object, between: (page: number) => Promise<unknown> = async () => {}) {
  const ids: number[] = [];
  let [next, pages]: [object | null, number] = [query, 0];
  while (next) {
    const { status, body, headers }: { status: number; body: Json; headers: Headers } = await postern.send(name, next);
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(body.startIndex, ids.length, 'startIndex is the number of records on the previous pages');
    ids.push(...body.list.map(({ id }: { id: number }) => id));
    const link = /^<([^>]*)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
    next = link ? Object.fromEntries(new URL(link).searchParams) : null;
    pages += 1;
    await between(pages);
  }
  return { ids, pages };
}

async function addShares(postern: TestPostern): Promise<void> {
  for (let number = 0; number < 14; number += 1)
    await postern.call('share/add', {
      ...newShare({ title: ['b', 'B', 'é', '😀', '～'][number % 5], folder: true, active: number % 2 === 0 }),
      ...(number % 3 === 0 ? { validityEndDate: `2100-01-0${1 + (number % 9)}T00:00:00Z` } : {}),
    });
}

test('the next links lead to every record exactly once, for several sort fields and in both directions', async (t) => {
  const postern = await startPostern(t);
  await addShares(postern);
  for (const sortField of ['id', 'title', 'path', 'active', 'validityEndDate', 'createDateTime', 'authTypeId', 'userNames', 'viewId'])
    for (const sortOrder of ['asc', 'desc']) {
      const order = { sortField, sortOrder };
      const all = (await postern.call('share/search', order)).list.map(({ id }: { id: number }) => id);
      assert.deepEqual((await walk(postern, 'share/search', { ...order, pageSize: 4 })).ids, all, JSON.stringify(order));
    }
});

test('records with long texts are sorted by the start of the text, so that the next link stays short', async (t) => {
  const postern = await startPostern(t);
  const addresses = (number: number) => Array.from({ length: 2000 }, (_, index) => `${'x'.repeat(8)}${9 - number}-${index}@example.com`);
  for (let number = 0; number < 3; number += 1)
    await postern.call('share/add', {
      ...newShare({ title: `${number}` }),
      notifyEmails: addresses(number).join(','),
      description: `${9 - number}${'字'.repeat(3000)}`,
    });
  for (const sortField of ['notifyEmails', 'description']) {
    const { ids, pages } = await walk(postern, 'share/search', { sortField, pageSize: 1 });
    assert.deepEqual([ids, pages], [[3, 2, 1], 3], sortField);
    const { headers } = await postern.send('share/search', { sortField, pageSize: 1 });
    assert.ok((headers.get('link') ?? '').length < 3000, sortField);
  }
});

const searches = [
  ...['share/search', 'accessuser/search', 'loginprofile/search', 'location/search', 'audit/search'],
  ...['apikey/search', 'operator/search', 'tenant/search', 'mail/deliveries'],
];

test('every search can be read to the end with next links', async (t) => {
  const postern = await startPostern(t);
  await addShares(postern);
  for (const name of searches) {
    const all = (await postern.call(name)).list.map(({ id }: { id: number }) => id);
    assert.deepEqual((await walk(postern, name, { pageSize: 1 })).ids.slice(0, all.length), all, name);
  }
});

test('if records are deleted between two pages, no other record is missing or shown twice', async (t) => {
  const postern = await startPostern(t);
  await addShares(postern);
  const all: number[] = (await postern.call('share/search')).list.map(({ id }: { id: number }) => id);
  const receivedIds: number[] = [];
  let next: Record<string, string> = { pageSize: '5', sortField: 'id' };
  for (const change of [() => postern.call('share/delete', { id: all[0] }), () => postern.call('share/delete', { id: all[1] })]) {
    const { body, headers } = await postern.send('share/search', next);
    receivedIds.push(...body.list.map(({ id }: { id: number }) => id));
    await change();
    const link = /^<([^>]*)>/.exec(headers.get('link') ?? '')?.[1] ?? '';
    next = Object.fromEntries(new URL(link).searchParams);
  }
  receivedIds.push(...(await postern.call('share/search', { ...next, pageSize: 1000 })).list.map(({ id }: { id: number }) => id));
  assert.deepEqual(receivedIds, all);
});

test('an invalid cursor, one of another sort field or order, or one with startIndex is refused, and the error names the field', async (t) => {
  const postern = await startPostern(t);
  await addShares(postern);
  const { headers } = await postern.send('share/search', { pageSize: 1, sortField: 'title' });
  const after = new URL(/^<([^>]*)>/.exec(headers.get('link') ?? '')?.[1] ?? '', 'http://localhost').searchParams.get('after');
  assert.ok(after);
  const invalidQueries: [object, string][] = [
    [{ sortField: 'id', after }, 'after'],
    [{ sortField: 'title', sortOrder: 'desc', after }, 'after'],
    [{ sortField: 'title', after: 'nonsense' }, 'after'],
    [{ sortField: 'title', after: Buffer.from('["title","asc",{},1,1]').toString('base64url') }, 'after'],
    [{ sortField: 'title', after, startIndex: 1 }, 'startIndex'],
  ];
  for (const [query, field] of invalidQueries) {
    const { status, body } = await postern.send('share/search', query);
    assert.deepEqual([status, body.errors?.[0]?.field], [400, field], JSON.stringify(query));
  }
});

test('the next link is an absolute URL with the host that the client used', async (t) => {
  const postern = await startPostern(t, { environment: { POSTERN_TRUSTED_PROXIES: '127.0.0.1, ::1' } });
  await addShares(postern);
  const nextOf = async (headers: Record<string, string> = {}) => {
    const answer = await postern.send('share/search', { pageSize: 5, startIndex: 2 }, { headers });
    return new URL(/^<([^>]*)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1] ?? '');
  };
  const directUrl = await nextOf();
  assert.equal(directUrl.origin + directUrl.pathname, `${postern.apiUrl}/api/v1/share/search`);
  assert.deepEqual([...directUrl.searchParams.keys()], ['pageSize', 'after']);
  const urlBehindProxy = await nextOf({ 'x-forwarded-proto': 'https', 'x-forwarded-host': 'api.example.com' });
  assert.equal(urlBehindProxy.origin, 'https://api.example.com');
});

test('sorting shares by userNames does not scan all names, even if one share has all of them', async (t) => {
  const plan = queryPlan(t, 'order by position limit 1');
  const postern = await startPostern(t);
  const { store } = postern.ports;
  const userNames = Array.from({ length: 2900 }, (_, number) => `user ${number}`).join(',');
  await postern.call('share/add', newShare({ title: 'Listed', allowAllUsers: false, userNames }));
  await postern.call('share/add', newShare({ title: 'Open' }));
  const sortedTitles = async () => (await postern.call('share/search', { sortField: 'userNames' })).list.map(({ title }: Json) => title);
  assert.deepEqual(await sortedTitles(), ['Open', 'Listed']);
  if (store.dialect.name === 'sqlite') return; // SQLite uses the primary key of `share_user`
  await sql`analyze share_user`.execute(store.read);
  await sortedTitles();
  assert.doesNotMatch(await plan(store), /Seq Scan on share_user/);
});
