import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Json, newShare, startPostern, type TestPostern } from '../start.ts';
import { fieldErrorsOf } from './field-errors.ts';
import { addKey } from './keys.ts';

const searches = ['accessuser/search', 'share/search', 'loginprofile/search'];
const envelope = [
  'list',
  'startIndex',
  'pageSize',
  'resultCount',
  'totalCount',
  'containerType',
  'searchType',
  'startupMessage',
  'maxFileSize',
  'canDelete',
  'canUpload',
  'canDownload',
  'canDownloadFolder',
  'canRename',
  'canCreateFolder',
  'copyProtect',
];
const titles = ({ list }: Json) => list.map(({ title }: Json) => title);

async function addShares(postern: TestPostern, ...overs: object[]) {
  for (const over of overs) await postern.call('share/add', newShare(over));
}

/** Starts Postern with a clock that the test sets. */
async function startAt(t: Parameters<typeof startPostern>[0], time: string) {
  const clock = { at: Date.parse(time), now: () => clock.at };
  return { postern: await startPostern(t, { replacements: { ports: { clock } } }), clock };
}

for (const name of searches)
  test(`${name} returns exactly the fields of the search envelope`, async (t) => {
    const postern = await startPostern(t);
    const answer = await postern.call(name);
    assert.deepEqual(Object.keys(answer).sort(), [...envelope].sort());
    assert.deepEqual([answer.startIndex, answer.pageSize, answer.searchType, answer.copyProtect], [0, 50, 'all', false]);
    assert.equal(answer.resultCount, answer.list.length);
    assert.equal(answer.maxFileSize, 1_099_511_627_776);
    for (const flag of envelope.filter((field) => field.startsWith('can'))) assert.equal(typeof answer[flag], 'boolean', flag);
    assert.equal((await postern.call(name, { searchWord: 'x' })).searchType, 'filtered');
  });

for (const name of searches)
  test(`${name} refuses invalid values and does not adjust them`, async (t) => {
    const postern = await startPostern(t);
    for (const [field, values] of [
      ['startIndex', [-1, '1.5', 'x', '']],
      ['pageSize', [0, -1, 1001, 'x', '', '1e2']],
      ['sortOrder', ['up', '']],
      ['fromDate', ['2026-02-30', '2026-13-01', 'yesterday', '2026-01-01T25:00:00Z']],
      ['toDate', ['2026-02-29', 'x']],
    ] as const)
      for (const value of values)
        assert.deepEqual(fieldErrorsOf(await postern.send(name, { [field]: value })), [field], `${field}=${value}`);
    assert.equal((await postern.call(name, { pageSize: 1000 })).pageSize, 1000);
    assert.deepEqual((await postern.call(name, { startIndex: 999 })).list, []);
  });

test('every spelling of a sort order is accepted, ignoring case; for an invalid one, the error lists the valid ones', async (t) => {
  const postern = await startPostern(t);
  await addShares(postern, { title: 'A' }, { title: 'B' });
  for (const sortOrder of ['ace', 'asc', 'ascending', 'ACE', 'Ascending'])
    assert.deepEqual(titles(await postern.call('share/search', { sortField: 'title', sortOrder })), ['A', 'B'], sortOrder);
  for (const sortOrder of ['dsc', 'dse', 'desc', 'descending', 'DSE', 'Desc'])
    assert.deepEqual(titles(await postern.call('share/search', { sortField: 'title', sortOrder })), ['B', 'A'], sortOrder);
  const { body } = await postern.send('share/search', { sortOrder: 'up' });
  for (const spelling of ['ace', 'asc', 'ascending', 'dsc', 'dse', 'desc', 'descending'])
    assert.match(body.errors[0].detail, new RegExp(`\\b${spelling}\\b`));
});

test('paging over records with equal sort values neither skips nor repeats a record', async (t) => {
  const postern = await startPostern(t);
  await addShares(postern, ...Array.from({ length: 7 }, () => ({ title: 'Same' })));
  for (const sortOrder of ['ace', 'dse']) {
    const pagedIds: number[] = [];
    for (let startIndex = 0; startIndex < 9; startIndex += 3) {
      const { list, totalCount, resultCount } = await postern.call('share/search', {
        sortField: 'title',
        sortOrder,
        startIndex,
        pageSize: 3,
      });
      assert.deepEqual([totalCount, resultCount], [7, list.length]);
      pagedIds.push(...list.map(({ id }: Json) => id));
    }
    assert.deepEqual([...pagedIds].sort(), [1, 2, 3, 4, 5, 6, 7]);
  }
});

test('share/search compares searchWord with title, description, path, location and viewId only', async (t) => {
  const postern = await startPostern(t);
  const { viewId } = await postern.call(
    'share/add',
    newShare({ title: 'Quarterly ÄRGER', description: 'numbers_50%', startupMessage: 'greeting', path: '/welcome.txt', folder: false }),
  );
  const count = async (searchWord: string) => (await postern.call('share/search', { searchWord })).totalCount;
  for (const word of ['quarterly', 'TERLY', 'ärger', 'S_50%', 'WELCOME', 'loca', viewId.toUpperCase()])
    assert.equal(await count(word), 1, word);
  for (const word of ['greeting', 'environment', 'numbers 50', 'quarterly numbers', '%%', 'n_mbers'])
    assert.equal(await count(word), 0, word);
});

test('accessuser/search searches username, names and e-mail; loginprofile/search searches title, description and username', async (t) => {
  const postern = await startPostern(t);
  await postern.call('accessuser/add', {
    username: 'ann.b',
    active: true,
    firstName: 'Anneliese',
    lastName: 'Müller',
    email: 'am@firm.example',
  });
  for (const searchWord of ['ANN.B', 'neliese', 'MÜLLER', 'firm.EX'])
    assert.equal((await postern.call('accessuser/search', { searchWord })).totalCount, 1, searchWord);
  assert.equal((await postern.call('accessuser/search', { searchWord: 'Anyone' })).totalCount, 0);
  await postern.call('loginprofile/add', {
    title: 'Bank',
    description: 'of the river',
    typeId: 2,
    username: 'guest7',
    password: 'long enough words',
    startupMessage: 'hello',
  });
  for (const searchWord of ['BANK', 'RIVER', 'Guest7'])
    assert.equal((await postern.call('loginprofile/search', { searchWord })).totalCount, 1, searchWord);
  for (const searchWord of ['hello', 'long enough'])
    assert.equal((await postern.call('loginprofile/search', { searchWord })).totalCount, 0, searchWord);
});

test('a reader, who cannot see the username of a login profile, cannot find the profile by it', async (t) => {
  const postern = await startPostern(t);
  const key = await addKey(postern, 'reader');
  await postern.call('loginprofile/add', { title: 'Bank', typeId: 2, username: 'guest7', password: 'long enough words' });
  assert.equal((await postern.call('loginprofile/search', { searchWord: 'guest7' }, { key })).totalCount, 0);
});

test('a search finds the records created at or after fromDate and last updated at or before toDate', async (t) => {
  const { postern, clock } = await startAt(t, '2026-03-10T12:00:00Z');
  const { id } = await postern.call('share/add', newShare());
  clock.at = Date.parse('2026-03-12T23:59:59.999Z');
  await postern.call('share/update', { ...(await postern.call('share/get', { id })), title: 'Changed' });
  const count = async (query: object) => (await postern.call('share/search', query)).totalCount;
  assert.equal(await count({ fromDate: '2026-03-10' }), 1);
  assert.equal(await count({ fromDate: '2026-03-10T12:00:00.000Z' }), 1);
  assert.equal(await count({ fromDate: '2026-03-10T12:00:00.001Z' }), 0);
  assert.equal(await count({ fromDate: '2026-03-10T14:00:00+02:00' }), 1);
  assert.equal(await count({ fromDate: '2026-03-11' }), 0);
  assert.equal(await count({ toDate: '2026-03-11' }), 0);
  assert.equal(await count({ toDate: '2026-03-12' }), 1);
  assert.equal(await count({ toDate: '2026-03-12T23:59:59.998Z' }), 0);
});

test('accessuser/search filters by authId, loginprofile/search by typeId, share/search by authId and authType', async (t) => {
  const postern = await startPostern(t);
  const { id } = await postern.call('loginprofile/add', { title: 'Clients' });
  await postern.call('accessuser/add', { username: 'ann', active: true, authId: id });
  await postern.call('accessuser/add', { username: 'bob', active: true });
  await addShares(postern, { title: 'Open' }, { title: 'Closed', authenticationId: id });
  assert.deepEqual(
    (await postern.call('accessuser/search', { authId: id })).list.map(({ username }: Json) => username),
    ['ann'],
  );
  assert.deepEqual(
    (await postern.call('loginprofile/search', { typeId: 3 })).list.map((record: Json) => record.id),
    [id],
  );
  assert.deepEqual(titles(await postern.call('share/search', { authId: id })), ['Closed']);
  assert.deepEqual(titles(await postern.call('share/search', { authType: 1 })), ['Open']);
  assert.equal((await postern.call('share/search', { authId: 987 })).totalCount, 0);
});

test('share/search can filter by the states active, scheduled, ended and inactive', async (t) => {
  const { postern } = await startAt(t, '2026-06-01T00:00:00Z');
  await addShares(
    postern,
    { title: 'now' },
    { title: 'later', validityStartDate: '2026-06-01T00:00:00.001Z' },
    { title: 'over', validityStartDate: '2026-01-01', validityEndDate: '2026-05-31' },
    { title: 'begins', validityStartDate: '2026-06-01' },
    { title: 'off', active: false },
  );
  assert.deepEqual(titles(await postern.call('share/search', { state: 'active' })), ['now', 'begins']);
  assert.deepEqual(titles(await postern.call('share/search', { state: 'scheduled' })), ['later']);
  assert.deepEqual(titles(await postern.call('share/search', { state: 'ended' })), ['over']);
  assert.deepEqual(titles(await postern.call('share/search', { state: 'inactive' })), ['off']);
  assert.deepEqual(fieldErrorsOf(await postern.send('share/search', { state: 'open' })), ['state']);
});

test('the flags of a search envelope show what the caller may do with the records', async (t) => {
  const postern = await startPostern(t);
  const [reader, editor] = [await addKey(postern, 'reader'), await addKey(postern, 'editor')];
  const flagsOf = async (name: string, key: string) =>
    (({ canDelete, canUpload, canRename }) => [canDelete, canUpload, canRename])(await postern.call(name, {}, { key }));
  assert.deepEqual(await flagsOf('share/search', reader), [false, false, false]);
  assert.deepEqual(await flagsOf('share/search', editor), [true, true, true]);
  assert.deepEqual(await flagsOf('loginprofile/search', editor), [false, false, false]);
});
