import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createUsersProfile, startPostern } from '../start.ts';
import { fieldErrorsOf } from './field-errors.ts';

const user = (username: string, over: object = {}) => ({ username, active: true, ...over });
const manyUsers = (count: number) => Array.from({ length: count }, (_, at) => user(`user-${at}`, { email: `user-${at}@example.com` }));

test('accessuser/addMany adds 1000 users in one call and returns their ids in the order of the rows', async (t) => {
  const postern = await startPostern(t);
  const { id: authId } = await createUsersProfile(postern, []);
  const { ids } = await postern.call('accessuser/addMany', { authId, users: manyUsers(1000) });
  assert.equal(ids.length, 1000);
  for (const row of [0, 500, 999]) {
    const record = await postern.call('accessuser/get', { id: ids[row] });
    assert.deepEqual([record.username, record.email, record.authId], [`user-${row}`, `user-${row}@example.com`, authId]);
  }
  const searchResult = await postern.call('accessuser/search', { searchWord: 'user-77' });
  assert.equal(searchResult.totalCount, 11, 'a search finds users that were added together');
});

test('if rows are invalid, accessuser/addMany names each of them by its position and adds no rows', async (t) => {
  const postern = await startPostern(t);
  const { id: authId } = await createUsersProfile(postern, ['ann']);
  const add = (users: object[]) => postern.send('accessuser/addMany', { authId, users });
  const invalidRows = await add([user('bob'), user('a,b'), { username: 'cyd' }, user('dora', { email: 'nowhere', phone: '1' })]);
  assert.deepEqual(
    [invalidRows.status, fieldErrorsOf(invalidRows)],
    [400, ['users.1.username', 'users.2.active', 'users.3.email', 'users.3.phone']],
  );
  const takenNames = await add([user('bob'), user('ANN'), user('cyd'), user('Cyd')]);
  assert.deepEqual([takenNames.status, fieldErrorsOf(takenNames)], [409, ['users.1.username', 'users.3.username']]);
  assert.match(takenNames.body.errors[1].detail, /same as users\.2\.username/);
  const hundredInvalidRows = await add(Array.from({ length: 100 }, () => user('a,b')));
  assert.equal(hundredInvalidRows.body.errors.length, 100, 'the response names each of the 100 invalid rows');
  assert.equal((await postern.call('accessuser/search')).totalCount, 1);
});

test('accessuser/addMany refuses a duplicate e-mail address in a profile that sends codes', async (t) => {
  const postern = await startPostern(t);
  const { id: authId } = await postern.call('loginprofile/add', { title: 'Codes', typeId: 4, configuration: '{"allow":[]}' });
  await postern.call('accessuser/add', { username: 'ann', email: 'ann@example.com', active: true, authId });
  const users = [user('bob', { email: 'Ann@example.com' }), user('cyd'), user('dora')];
  assert.deepEqual(fieldErrorsOf(await postern.send('accessuser/addMany', { authId, users })), ['users.0.email']);
});

test('accessuser/addMany names at most 1000 invalid fields, even if two fields of each row are invalid', async (t) => {
  const postern = await startPostern(t);
  const { id: authId } = await postern.call('loginprofile/add', { title: 'Codes', typeId: 4, configuration: '{"allow":[]}' });
  const ann = user('ann', { email: 'ann@example.com' });
  const { status, body } = await postern.send('accessuser/addMany', { authId, users: Array.from({ length: 1000 }, () => ann) });
  assert.deepEqual([status, body.errors.length], [409, 1000]);
  assert.match(body.detail, /^999 of 1000 users are invalid/);
});

test('accessuser/addMany refuses an empty list, and refuses more than 1000 rows without checking them', async (t) => {
  const postern = await startPostern(t);
  const { id: authId } = await createUsersProfile(postern, []);
  for (const users of [[], manyUsers(1001), Array.from({ length: 20_000 }, () => ({}))]) {
    const answer = await postern.send('accessuser/addMany', { authId, users });
    assert.deepEqual([answer.status, fieldErrorsOf(answer)], [400, ['users']]);
  }
});

test('accessuser/addMany without authId adds to the default login profile; a dry run adds no user', async (t) => {
  const postern = await startPostern(t);
  const body = { users: [user('ann')] };
  const dryRunResult = await postern.call('accessuser/addMany', body, { query: { dryRun: 'true' } });
  assert.deepEqual([dryRunResult.dryRun, dryRunResult.ids], [true, undefined]);
  assert.equal((await postern.call('accessuser/search')).totalCount, 0);
  const { ids } = await postern.call('accessuser/addMany', body);
  const { id } = await postern.call('loginprofile/get');
  assert.equal((await postern.call('accessuser/get', { id: ids[0] })).authId, id);
});
