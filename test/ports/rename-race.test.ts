import assert from 'node:assert/strict';
import fs from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { dropOldName, linkFile } from '#adapters/storage/disk/placing.ts';
import { temporaryFolder } from '../start.ts';

test('a file that another process deletes or renames in the middle of a rename keeps no second name', async (t) => {
  const path = await temporaryFolder(t);
  fs.writeFileSync(join(path, 'old'), 'a text');
  const folder = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
  t.after(() => fs.closeSync(folder));
  const [old, renamed] = [
    { folder, name: 'old' },
    { folder, name: 'new' },
  ];
  linkFile(old, renamed);
  fs.renameSync(join(path, 'old'), join(path, 'elsewhere'));
  assert.throws(() => dropOldName(old, renamed, 'token'), /ENOENT/);
  assert.deepEqual(fs.readdirSync(path), ['elsewhere']);
});
