import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from './settings.ts';

test('an empty variable, as compose files set it, counts as unset', () => {
  assert.deepEqual(readSettings({ HOST: '', PORT: '', POSTERN_DATA: '', POSTERN_LOCAL_ROOTS: '' }), readSettings({}));
});
