import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from './settings.ts';

test('an empty variable, as compose files set it, counts as unset', () => {
  assert.deepEqual(readSettings({ HOST: '', PORT: '', POSTERN_DATA: '', POSTERN_LOCAL_ROOTS: '' }), readSettings({}));
});

test('all roots of locations that overlap POSTERN_DATA are reported, except in its folder files; an empty value counts as unset', () => {
  const data = readSettings({ POSTERN_DATA: '' }).data;
  const roots = [`${data}/x`, '/elsewhere', data, `${data}/files/a`];
  assert.throws(
    () => readSettings({ POSTERN_DATA: '', POSTERN_LOCAL_ROOTS: roots.map((root) => `1:${root}`).join(',') }),
    ({ message }: Error) => {
      assert.equal(message.split('\n').length, 2);
      assert.match(message, /names \S+\/x, which overlaps/);
      return true;
    },
  );
});
