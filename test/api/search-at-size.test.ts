import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type ShareState, shareStates } from '#core/records/share.ts';
import { fold } from '../../src/core/fold.ts';
import { createUsersProfile, type Json, newShare, startPostern, type TestPostern } from '../start.ts';

const numberOfShares = 6000; // more than `maxLookupsById`, the most matches that a search looks up one by one
const batchSize = 200; // rows per insert
const kinds = ['Report', 'Invoice', 'Timesheet', 'Договор', '契約書', 'MÜLLER'];

const farFuture = Date.UTC(2100, 0);
/** Of every 100 shares, one is inactive, one is scheduled and one has ended. The others are active. */
const rareShares: Readonly<Record<number, { readonly state: ShareState; readonly columns: object }>> = {
  50: { state: 'inactive', columns: { active: 0, valid_to: 1 } },
  51: { state: 'scheduled', columns: { valid_from: farFuture } },
  52: { state: 'ended', columns: { valid_from: 1, valid_to: 2 } },
};
const ordinaryShare = (number: number) =>
  ({ state: 'active', columns: { valid_to: number % 3 === 0 ? farFuture + (number % 40) : null } }) as const;

interface ExpectedShare {
  readonly id: number;
  readonly state: ShareState;
  readonly end: number | null;
  readonly title: string;
  readonly text: string;
}

/** Inserts thousands of copies of a share, with the search text that share/add would store. */
async function addMany(postern: TestPostern, shareId: number): Promise<ExpectedShare[]> {
  const { store } = postern.ports;
  const { id: _, ...row } = await store.read.selectFrom('share').selectAll().where('id', '=', shareId).executeTakeFirstOrThrow();
  const records: ExpectedShare[] = [];
  for (let begin = 0; begin < numberOfShares; begin += batchSize) {
    const rows = Array.from({ length: batchSize }, (_, index) => {
      const number = begin + index;
      const title = `${kinds[number % 6]} ${(number * 7919) % numberOfShares}`;
      const view_id = `${row.view_id.slice(0, 10)}${String(number).padStart(12, '0')}`;
      const description = number % 500 === 0 ? '100%_\\ sure' : '';
      const { columns } = rareShares[number % 100] ?? ordinaryShare(number);
      return { ...row, ...columns, title, description, view_id, search_text: fold([title, description, row.path, view_id].join('\u001f')) };
    });
    const ids = await store.write(
      (tx) => tx.insertInto('share').values(rows).returning(['id', 'title', 'valid_to', 'search_text']).execute(),
      'job',
    );
    for (const [index, { id, title, valid_to: end, search_text: text }] of ids.entries())
      records.push({ id, title, end, text, state: (rareShares[(begin + index) % 100] ?? ordinaryShare(0)).state });
  }
  return records;
}

const byCodePoint = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

async function startWithShares(t: TestContext, environment: Record<string, string> = {}) {
  const postern = await startPostern(t, { environment });
  const first = await postern.call('share/add', newShare({ title: 'The first' }));
  const records = await addMany(postern, first.id);
  records.unshift({
    id: first.id,
    title: 'The first',
    state: 'active',
    end: null,
    text: fold(`The first\u001f\u001f/\u001f${first.viewId}`),
  });
  const search = (query: object) => postern.call('share/search', query);
  return { postern, records, search };
}

async function assertSearchResults(records: readonly ExpectedShare[], search: (query: object) => Promise<Json>): Promise<void> {
  for (const word of ['report', 'REPORT 1', 'müller', 'договор 7', '契約', 'e', '77', '%_\\', 'first', 'nowhere', 'local']) {
    const matching = records.filter(({ text }) => word === 'local' || text.includes(fold(word)));
    const byTitle = matching.toSorted((a, b) => byCodePoint(a.title, b.title) || a.id - b.id).map(({ id }) => id);
    for (const [sortOrder, ids] of [
      ['asc', byTitle],
      ['desc', byTitle.toReversed()],
    ] as const)
      for (const startIndex of [0, 40, Math.max(0, ids.length - 30), Math.floor(ids.length / 2)]) {
        const result = await search({ searchWord: word, sortField: 'title', sortOrder, startIndex, pageSize: 40 });
        const where = `${word} ${sortOrder} ${startIndex}`;
        assert.equal(result.totalCount, ids.length, where);
        assert.deepEqual(
          result.list.map(({ id }: Json) => id),
          ids.slice(startIndex, startIndex + 40),
          where,
        );
      }
  }
}

test('among thousands of shares, a search word finds exactly those that contain it, in any order and on any page', async (t) => {
  const { records, search } = await startWithShares(t);
  await assertSearchResults(records, search);
});

test('among thousands of shares, a filter by state finds and counts exactly the shares in that state, in any order and on any page', async (t) => {
  const { records, search } = await startWithShares(t);
  const orders = {
    title: (a: ExpectedShare, b: ExpectedShare) => byCodePoint(a.title, b.title) || a.id - b.id,
    validityEndDate: (a: ExpectedShare, b: ExpectedShare) => (a.end ?? -1) - (b.end ?? -1) || a.id - b.id,
  };
  for (const state of shareStates)
    for (const searchWord of [undefined, '7'])
      for (const [sortField, order] of Object.entries(orders)) {
        const matching = records.filter((record) => record.state === state && record.text.includes(searchWord ?? ''));
        const ids = matching.toSorted(order).map(({ id }) => id);
        const query = { state, sortField, pageSize: 7, ...(searchWord ? { searchWord } : {}) };
        const findPage = async (more: object) => {
          const { list, totalCount } = await search({ ...query, ...more });
          return { totalCount, ids: list.map(({ id }: Json) => id) };
        };
        const where = JSON.stringify(query);
        assert.deepEqual(await findPage({}), { totalCount: ids.length, ids: ids.slice(0, 7) }, where);
        const last = { totalCount: ids.length, ids: ids.slice(-7) };
        assert.deepEqual(await findPage({ startIndex: ids.length - 7 }), last, where);
        const descending = { totalCount: ids.length, ids: ids.toReversed().slice(3, 10) };
        assert.deepEqual(await findPage({ sortOrder: 'desc', startIndex: 3 }), descending, where);
      }
});

test('with POSTERN_SEARCH_MEMORY=0, a search finds the same shares', async (t) => {
  const { records, search } = await startWithShares(t, { POSTERN_SEARCH_MEMORY: '0' });
  await assertSearchResults(records, search);
});

test('a search by startIndex ends with the same shares as the pages that the next links lead to', async (t) => {
  const { postern, records, search } = await startWithShares(t);
  for (const query of [{}, { searchWord: 'report' }, { searchWord: '77' }]) {
    const pagedIds: number[] = [];
    let address = `/api/v1/share/search?${new URLSearchParams({ ...query, sortField: 'title', pageSize: '500' })}`;
    while (address !== '') {
      const response = await fetch(new URL(address, postern.apiUrl), { headers: { authorization: 'Bearer pst_test-key-of-an-admin' } });
      const page: Json = await response.json();
      pagedIds.push(...page.list.map(({ id }: Json) => id));
      address = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1] ?? '';
    }
    const matching = records.filter(({ text }) => text.includes(Object.values(query)[0] ?? ''));
    assert.equal(new Set(pagedIds).size, matching.length);
    const end = await search({ ...query, sortField: 'title', startIndex: pagedIds.length - 7, pageSize: 20 });
    assert.deepEqual(
      end.list.map(({ id }: Json) => id),
      pagedIds.slice(-7),
    );
    assert.equal((await search({ ...query, startIndex: pagedIds.length, pageSize: 20 })).resultCount, 0);
  }
});

test('after a change of a share, a search finds it by its new text and no longer by its old text', async (t) => {
  const { postern, records, search } = await startWithShares(t);
  const count = async (query: object) => (await search({ ...query, pageSize: 1 })).totalCount;
  const { id } = records[0] ?? assert.fail();
  assert.equal(await count({ searchWord: 'first' }), 1);
  const [record] = (await search({ searchWord: 'first' })).list;
  await postern.call('share/update', { ...record, title: 'Once a Rëport' });
  assert.deepEqual([await count({ searchWord: 'first' }), await count({ searchWord: 'rëport' })], [0, 1]);
  const reports = await count({ searchWord: 'report' });
  const { id: another } = await postern.call('share/add', newShare({ title: 'Another report' }));
  assert.equal(await count({ searchWord: 'report' }), reports + 1);
  assert.equal(await count({ searchWord: 'report', fromDate: '2020-01-01' }), reports + 1);
  const { viewId } = await postern.call('share/updateSharableLink', { id: another, viewId: 'a-new-Address' });
  assert.equal(await count({ searchWord: viewId }), 1);
  await postern.send('share/update', { id: another, title: 'Refused', authenticationId: 999 });
  assert.equal(await count({ searchWord: 'refused' }), 0);
  await postern.call('share/delete', { id: another });
  await postern.call('share/delete', { id });
  assert.deepEqual([await count({ searchWord: 'report' }), await count({ searchWord: 'rëport' })], [reports, 0]);
  assert.equal(await count({}), records.length - 1);
  const [location] = (await postern.call('location/search')).list;
  await postern.call('location/update', { id: location.id, name: 'archive' });
  assert.deepEqual([await count({ searchWord: 'local' }), await count({ searchWord: 'archive' })], [0, records.length - 1]);
});

test('after a change of an access user, a search finds the user by the new text only', async (t) => {
  const postern = await startPostern(t);
  const { users } = await createUsersProfile(postern, ['ann', 'bob']);
  const names = async (searchWord: string) =>
    (await postern.call('accessuser/search', { searchWord })).list.map(({ username }: Json) => username);
  assert.deepEqual(await names('example'), ['ann', 'bob']);
  const [ann] = (await postern.call('accessuser/search', { searchWord: 'ann' })).list;
  await postern.call('accessuser/update', { ...ann, email: 'ann@elsewhere.org' });
  assert.deepEqual([await names('example'), await names('elsewhere')], [['bob'], ['ann']]);
  await postern.call('accessuser/delete', { id: users['bob'] });
  assert.deepEqual(await names('example'), []);
});

test('shareCount, userCount and allowedLogins stay correct when records are added, moved, deactivated or deleted', async (t) => {
  const postern = await startPostern(t);
  const one = await createUsersProfile(postern, ['ann', 'bob', 'cid']);
  const two = await createUsersProfile(postern, ['dan'], { title: 'Suppliers' });
  const counts = async (id: number) => {
    const { shareCount, userCount } = await postern.call('loginprofile/get', { id });
    return [shareCount, userCount];
  };
  const { id } = await postern.call('share/add', newShare({ authenticationId: one.id, allowAllUsers: true }));
  const copy = await postern.call('share/duplicate', { id, title: 'Copy' });
  const allowedLogins = async () => (await postern.call('share/get', { id })).allowedLogins;
  assert.deepEqual([await counts(one.id), await counts(two.id), await allowedLogins()], [[2, 3], [0, 1], 3]);
  const [bob] = (await postern.call('accessuser/search', { searchWord: 'bob' })).list;
  await postern.call('accessuser/update', { ...bob, active: false });
  assert.equal(await allowedLogins(), 2);
  await postern.call('accessuser/update', { ...bob, active: true, authId: two.id });
  await postern.call('share/update', { ...(await postern.call('share/get', { id: copy.id })), authenticationId: two.id });
  assert.deepEqual([await counts(one.id), await counts(two.id), await allowedLogins()], [[1, 2], [1, 2], 2]);
  await postern.call('accessuser/delete', { id: one.users['ann'] });
  await postern.call('share/delete', { id: copy.id });
  await postern.send('share/delete', { id }, { query: { dryRun: 'true' } });
  assert.deepEqual([await counts(one.id), await counts(two.id), await allowedLogins()], [[1, 1], [0, 2], 1]);
});
