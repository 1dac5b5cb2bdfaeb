import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createUsersProfile, type Json, newShare, startPostern } from '../start.ts';
import { fieldErrorsOf } from './field-errors.ts';

interface Field {
  readonly name: string;
  readonly added: unknown;
  readonly updated: unknown;
  /** The value after an update with null. Absent for a required field, where null is refused. */
  readonly cleared?: unknown;
}

const requiredFields: readonly Field[] = [
  { name: 'title', added: 'First', updated: 'Second' },
  ...['canDelete', 'canUpload', 'canCreateFolder', 'canDownload', 'canDownloadFolder', 'canView', 'canRename'].map((name) => ({
    name,
    added: true,
    updated: false,
  })),
  { name: 'allowAllUsers', added: false, updated: true },
  { name: 'proxyMode', added: true, updated: false },
  { name: 'active', added: true, updated: false },
];
const optionalFields: readonly Field[] = [
  { name: 'notifyEmails', added: 'a@example.com,b@example.com', updated: 'c@example.com', cleared: '' },
  { name: 'description', added: 'one\ntwo', updated: 'three', cleared: '' },
  { name: 'startupMessage', added: 'Welcome', updated: 'Good day', cleared: '' },
  ...[
    'alertDelete',
    'alertUpload',
    'alertCreateFolder',
    'alertDownload',
    'alertView',
    'alertRename',
    'copyProtect',
    'copyProtectText',
    'digitalSignature',
  ].map((name) => ({
    name,
    added: true,
    updated: false,
    cleared: false,
  })),
  { name: 'waterMarkText', added: 'for {user}', updated: 'for {email}', cleared: '' },
  { name: 'digitalSignReason', added: 'Approved', updated: 'Seen', cleared: '' },
  { name: 'groupNames', added: 'staff,board', updated: 'staff', cleared: '' },
  { name: 'userNames', added: 'ann,bob', updated: 'bob', cleared: '' },
  { name: 'maxBytes', added: 5_000_000_000, updated: 0, cleared: null },
  { name: 'maxFiles', added: 0, updated: 2, cleared: null },
  { name: 'validityStartDate', added: '2026-01-31T09:00:00.000Z', updated: '2026-02-01T00:00:00.000Z', cleared: null },
  { name: 'validityEndDate', added: '2036-01-31T09:00:00.000Z', updated: '2036-02-01T00:00:00.000Z', cleared: null },
];
const responseFields = [
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
];
const addFields = ['location', 'path', 'authenticationId', 'folder'];
const fieldNames = [...requiredFields, ...optionalFields].map(({ name }) => name).concat(responseFields, addFields);

const valuesOf = (fields: readonly Field[], which: 'added' | 'updated') =>
  Object.fromEntries(fields.map((field) => [field.name, field[which]]));

/** Splits a list into its entries. */
const entriesOf = (value: unknown) => (typeof value === 'string' ? value.split(/, */) : value);

async function addShare(postern: Awaited<ReturnType<typeof startPostern>>) {
  const profile = await createUsersProfile(postern, ['ann', 'bob']);
  const body = newShare({ ...valuesOf([...requiredFields, ...optionalFields], 'added'), authenticationId: profile.id });
  const { id } = await postern.call('share/add', body);
  const share = await postern.call('share/get', { id });
  return { id, share, profile };
}

test('share/get and share/search return every field of a share, including its etag', async (t) => {
  const postern = await startPostern(t);
  const { id, share } = await addShare(postern);

  assert.deepEqual(Object.keys(share).sort(), [...fieldNames, 'etag'].sort());
  const { list } = await postern.call('share/search');
  assert.deepEqual(
    list.find((record: Json) => record.id === id),
    share,
  );
});

test('share/add stores every field of its body', async (t) => {
  const postern = await startPostern(t);
  const { share } = await addShare(postern);

  for (const { name, added } of [...requiredFields, ...optionalFields]) assert.deepEqual(entriesOf(share[name]), entriesOf(added), name);
});

test('the computed fields of a share have the expected values and formats', async (t) => {
  const postern = await startPostern(t);
  const { share, profile } = await addShare(postern);

  assert.equal(share.tid, 1);
  assert.equal(share.authenticationId, profile.id);
  assert.deepEqual([share.authTypeId, share.authTypeIdStr], [3, 'USERS']);
  assert.equal(share.allowedLogins, 2);
  assert.equal(share.enableAuthview, true);
  assert.equal(share.authViewId, profile.viewId);
  assert.equal(share.authViewUrl, `${postern.publicUrl}/p/${profile.viewId}`);
  assert.match(share.viewId, /^[A-Za-z0-9_-]{22}$/);
  assert.equal(share.viewUrl, `${postern.publicUrl}/s/${share.viewId}`);
  assert.deepEqual([share.createdOwner, share.updatedOwner], ['environment', 'environment']);
  for (const time of [share.createDateTime, share.updateDateTime]) assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

for (const field of [...requiredFields, ...optionalFields])
  test(`share/update changes ${field.name} and nothing else`, async (t) => {
    const postern = await startPostern(t);
    const { id, share } = await addShare(postern);

    await postern.call('share/update', { ...share, [field.name]: field.updated });

    const { etag: _e, updateDateTime: _u, allowedLogins: _l, ...after } = await postern.call('share/get', { id });
    const { etag: _f, updateDateTime: _v, allowedLogins: _m, ...before } = share;
    assert.deepEqual(after, { ...before, [field.name]: field.updated });
  });

test('null clears every optional field of a share', async (t) => {
  const postern = await startPostern(t);
  const { id, share } = await addShare(postern);

  await postern.call('share/update', { ...share, ...Object.fromEntries(optionalFields.map(({ name }) => [name, null])) });

  const after = await postern.call('share/get', { id });
  for (const { name, cleared } of optionalFields) assert.deepEqual(after[name], cleared, name);
});

test('an empty string clears every optional text and date of a share', async (t) => {
  const postern = await startPostern(t);
  const { id, share } = await addShare(postern);
  const texts = optionalFields.filter(({ added }) => typeof added === 'string');

  await postern.call('share/update', { ...share, ...Object.fromEntries(texts.map(({ name }) => [name, ''])) });

  const after = await postern.call('share/get', { id });
  for (const { name, cleared } of texts) assert.deepEqual(after[name], cleared, name);
});

test('null in a required field of a share is refused, and the error names the field', async (t) => {
  const postern = await startPostern(t);
  const { share } = await addShare(postern);
  for (const name of [...requiredFields.map((field) => field.name), 'authenticationId', 'folder'])
    assert.deepEqual(fieldErrorsOf(await postern.send('share/update', { ...share, [name]: null })), [name]);
});

test('share/update does not change optional fields that its body omits', async (t) => {
  const postern = await startPostern(t);
  const { id, share } = await addShare(postern);
  const requiredBody = Object.fromEntries(
    ['id', 'authenticationId', 'folder', ...requiredFields.map(({ name }) => name)].map((name) => [name, share[name]]),
  );

  await postern.call('share/update', requiredBody);

  const after = await postern.call('share/get', { id });
  for (const { name, added } of optionalFields) assert.deepEqual(entriesOf(after[name]), entriesOf(added), name);
});

test('the errors of share/add name all missing required fields at once', async (t) => {
  const postern = await startPostern(t);
  const answer = await postern.send('share/add', {});
  assert.equal(answer.status, 400);
  assert.deepEqual(fieldErrorsOf(answer), Object.keys(newShare()).sort());
});

test('the errors of share/update name all missing required fields at once', async (t) => {
  const postern = await startPostern(t);
  const { id } = await postern.call('share/add', newShare());
  const answer = await postern.send('share/update', { id });
  assert.deepEqual(fieldErrorsOf(answer), ['authenticationId', 'folder', ...requiredFields.map(({ name }) => name)].sort());
});

const storedFields = fieldNames.filter(
  (name) => !['viewUrl', 'authViewUrl', 'authViewId', 'enableAuthview', 'authTypeId', 'authTypeIdStr', 'allowedLogins'].includes(name),
);
const computedFields = ['viewUrl', 'authViewUrl', 'enableAuthview', 'allowedLogins', 'etag'];

const listFields = ['userNames', 'groupNames', 'notifyEmails'];

for (const [what, sortFields] of [
  ['every stored field except the lists', storedFields.filter((name) => !listFields.includes(name))],
  ['the stored lists', listFields],
] as const)
  test(`share/search sorts by ${what}, in both directions`, async (t) => {
    const postern = await startPostern(t);
    const { id, share } = await addShare(postern);
    const { id: other } = await postern.call('share/add', newShare({ title: 'Zebra' }));
    const second = await postern.call('share/get', { id: other });
    for (const sortField of sortFields) {
      const { list } = await postern.call('share/search', { sortField, sortOrder: 'dse' });
      const ids = list.map((record: Json) => record.id);
      assert.deepEqual([...ids].sort(), [id, other], sortField);
      const ascending = await postern.call('share/search', { sortField });
      assert.deepEqual(
        ascending.list.map((record: Json) => record.id),
        ids.toReversed(),
        sortField,
      );
      const [first, last] = ascending.list;
      if (share[sortField] === second[sortField])
        assert.deepEqual([first.id, last.id], [id, other], `${sortField}: equal values are sorted by id`);
      else if (typeof first[sortField] === 'string' && typeof last[sortField] === 'string')
        assert.ok(first[sortField] < last[sortField], sortField);
    }
  });

test('share/search refuses to sort by a field that cannot be sorted or is unknown, and the error lists the valid fields', async (t) => {
  const postern = await startPostern(t);
  for (const sortField of [...computedFields, 'nonsense']) {
    const answer = await postern.send('share/search', { sortField });
    assert.equal(answer.status, 400, sortField);
    assert.deepEqual(fieldErrorsOf(answer), ['sortField']);
    for (const name of ['id', 'title', 'createDateTime']) assert.match(JSON.stringify(answer.body.errors), new RegExp(`\\b${name}\\b`));
  }
});
