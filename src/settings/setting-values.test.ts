import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseLocalRoots, parsePublicUrl } from './setting-values.ts';

test('a public address with a path, a user name or a password is refused', () => {
  for (const text of ['https://files.example.com/sub', 'https://name@files.example.com', 'https://:secret@files.example.com'])
    assert.throws(() => parsePublicUrl(text), /must be an origin/, text);
  assert.equal(parsePublicUrl('https://files.example.com/'), 'https://files.example.com');
});

test('local roots are refused without a tenant id above 0 or without an absolute folder', () => {
  for (const text of ['0:/srv/files', '1:relative', '/srv/files']) assert.throws(() => parseLocalRoots(text), /must be a tenant id/, text);
  assert.deepEqual(parseLocalRoots('1:/srv/files, 2:/srv/more/'), [
    { tid: 1, folder: '/srv/files' },
    { tid: 2, folder: '/srv/more' },
  ]);
});
