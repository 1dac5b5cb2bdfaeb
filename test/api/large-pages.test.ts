import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { atEnd } from '../parts/at-end.ts';
import { copyShare } from '../parts/copy-share.ts';
import { until } from '../ports/until.ts';
import { adminKey, newShare, startPostern, type TestPostern } from '../start.ts';

const recordCount = 300;
const textLength = 60_000; // characters: all texts together exceed the maximum size of a response

/** Starts Postern with many shares, and returns the id of one of them. */
async function startWithShares(t: TestContext) {
  const postern = await startPostern(t);
  const { id } = await postern.call('share/add', newShare());
  await copyShare(postern, id, recordCount);
  return { postern, id };
}

const write = (postern: TestPostern, statement: ReturnType<typeof sql>) => postern.ports.store.write((tx) => statement.execute(tx), 'job');

/** Checks that a page of all records is refused with an error of the field pageSize, and that a smaller page is returned. */
async function assertPageTooLarge(postern: TestPostern, operation: string) {
  const refusal = await postern.send(operation, { pageSize: 1000 });
  assert.deepEqual([refusal.status, refusal.body.errors?.[0]?.field], [400, 'pageSize'], operation);
  assert.match(refusal.body.errors[0].detail, /must be smaller: these records have \d+ MiB, and a response can have at most 16 MiB/);
  assert.equal((await postern.send(operation, { pageSize: 100 })).status, 200, operation);
}

test('a page of shares whose texts are too large for one response is refused, and a smaller page is returned', async (t) => {
  const { postern } = await startWithShares(t);
  assert.equal((await postern.send('share/search', { pageSize: 1000 })).status, 200);
  await write(postern, sql`update share set notify_emails = ${'x'.repeat(textLength)}`);
  await assertPageTooLarge(postern, 'share/search');
});

test('a page of shares whose lists are too large for one response is refused, but not if the lists are short', async (t) => {
  const { postern } = await startWithShares(t);
  const numbers = (most: number) => sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(most)})`;
  const insertGroups = (name: ReturnType<typeof sql>, length: number) =>
    write(
      postern,
      sql`insert into share_group (tid, share_id, position, name, name_key) ${numbers(length)} select tid, id, i, ${name}, ${name} from share, n`,
    );
  await write(postern, sql`update share set listed_names = 300`); // so many names that the exact size of the lists is read
  await insertGroups(sql`cast(i as text)`, 10);
  assert.equal((await postern.send('share/search', { pageSize: 1000 })).status, 200);
  await write(postern, sql`delete from share_group`);
  await insertGroups(sql`${'x'.repeat(1000)} || i`, 60);
  await assertPageTooLarge(postern, 'share/search');
});

/** Sends a request, and returns its response without reading the body. */
async function requestUnread(t: TestContext, postern: TestPostern, operation: string): Promise<IncomingMessage> {
  const url = `${postern.apiUrl}/api/v1/${operation}`;
  const clientRequest = request(url, { headers: { authorization: `Bearer ${adminKey}` }, agent: false }).on('error', () => {});
  atEnd(t, () => clientRequest.destroy());
  clientRequest.end();
  const [answer] = await once(clientRequest, 'response');
  return answer;
}

test('pages of audit entries, profiles and locations are limited in size; exports are complete, and only a limited number of them runs at once', async (t) => {
  const { postern } = await startWithShares(t);
  const { store } = postern.ports;
  const insertCopies = async (table: 'audit' | 'login_profile' | 'location', distinct: 'request_id' | 'view_id' | 'name', over: object) => {
    const { id: _, ...row } = await store.read.selectFrom(table).selectAll().limit(1).executeTakeFirstOrThrow();
    const rows = Array.from({ length: recordCount }, (_row, number) => ({ ...row, ...over, [distinct]: `copy ${number}` }));
    await store.write((tx) => tx.insertInto(table).values(rows).execute(), 'job');
  };
  const text = 'x'.repeat(textLength);
  await insertCopies('audit', 'request_id', { after: JSON.stringify(text) });
  await insertCopies('login_profile', 'view_id', { description: text });
  await insertCopies('location', 'name', { configuration: text });
  await assertPageTooLarge(postern, 'audit/search');
  assert.equal((await postern.send('loginprofile/search', { pageSize: 1000 })).status, 400);
  assert.equal((await postern.send('location/search', { pageSize: 1000 })).status, 400);
  const { totalCount } = await postern.call('audit/search', { pageSize: 1 });
  const exportResponse = await fetch(`${postern.apiUrl}/api/v1/audit/export`, { headers: { authorization: `Bearer ${adminKey}` } });
  assert.equal((await exportResponse.text()).trimEnd().split('\n').length, totalCount);

  const unreadResponses: IncomingMessage[] = [];
  for (let number = 0; number < 8; number += 1) unreadResponses.push(await requestUnread(t, postern, 'audit/export'));
  assert.ok(unreadResponses.every(({ statusCode }) => statusCode === 200));
  assert.equal((await requestUnread(t, postern, 'audit/export')).statusCode, 503, 'the number of exports that no client reads is limited');
  for (const answer of unreadResponses) answer.destroy();
  await until(async () => (await requestUnread(t, postern, 'audit/export')).statusCode === 200);
});

test('a request for a large response gets 503 while three others of the tenant are unread, and succeeds after they are read', async (t) => {
  const { postern } = await startWithShares(t);
  await write(postern, sql`update share set notify_emails = ${'x'.repeat(30_000)}`);
  const requestPage = () => requestUnread(t, postern, 'share/search?pageSize=1000');
  const unreadResponses = [await requestPage(), await requestPage(), await requestPage()];
  assert.deepEqual(
    unreadResponses.map(({ statusCode }) => statusCode),
    [200, 200, 200],
  );
  const refusal = await requestPage();
  assert.deepEqual([refusal.statusCode, refusal.headers['retry-after']], [503, '5']);
  assert.equal((await postern.send('share/search')).status, 200, 'a small response is sent');
  for (const answer of unreadResponses) answer.resume();
  await Promise.all(unreadResponses.map((answer) => once(answer, 'end')));
  assert.equal((await postern.send('share/search', { pageSize: 1000 })).status, 200);
});
