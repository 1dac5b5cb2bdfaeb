import assert from 'node:assert/strict';
import { test } from 'node:test';
import { columnOf, StoredFields } from './stored-fields.ts';

const fields = new StoredFields({ flags: ['canView', 'active'], texts: ['title', 'startupMessage'] });

test('the column of a field has its name in snake case', () => {
  assert.equal(columnOf('canDownloadFolder'), 'can_download_folder');
  assert.deepEqual(fields.columns, ['can_view', 'active', 'title', 'startup_message']);
});

test('stored fields are returned as they were sent, with texts in Unicode NFC', () => {
  const request = { canView: true, active: false, title: 'Cafe\u0301', startupMessage: 'Hello' };
  assert.deepEqual(fields.toFields(fields.toNewColumns(request)), { ...request, title: 'Caf\u00e9' });
});

test('a field that a change omits stays as it is, and null clears a field', () => {
  assert.deepEqual(fields.toColumns({ active: null, title: null }), { active: 0, title: '' });
});

test('an absent field of a new record is false or empty', () => {
  assert.deepEqual(fields.toNewColumns({ title: 'A' }), { can_view: 0, active: 0, title: 'A', startup_message: '' });
});
