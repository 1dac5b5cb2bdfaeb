import assert from 'node:assert/strict';
import fs from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { renameEntry } from '#adapters/storage/disk/rename-entry.ts';
import { temporaryFolder } from '../start.ts';

/** Creates a folder with a file `old`. @returns its path, and a function that renames the file to `new` */
async function prepareRename(t: TestContext) {
  const path = await temporaryFolder(t);
  fs.writeFileSync(join(path, 'old'), 'a text');
  const folder = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
  t.after(() => fs.closeSync(folder));
  const directoryEntry = (name: string) => ({ folder, name });
  const rename = () =>
    renameEntry(
      { old: directoryEntry('old'), newEntry: directoryEntry('new'), token: 'token' },
      { own: directoryEntry('.own'), pending: [] },
    );
  return { path, rename };
}

/** Runs `meanwhile` as soon as the file is linked under its new name. */
function runAfterLink(t: TestContext, meanwhile: () => void): void {
  const { linkSync } = fs;
  t.mock.method(
    fs,
    'linkSync',
    (from: fs.PathLike, to: fs.PathLike) => {
      linkSync(from, to);
      meanwhile();
    },
    { times: 1 },
  );
}

test('if another process renames the file during a rename, the file gets no second name', async (t) => {
  const { path, rename } = await prepareRename(t);
  runAfterLink(t, () => fs.renameSync(join(path, 'old'), join(path, 'elsewhere')));
  assert.throws(rename, /ENOENT/);
  assert.deepEqual(
    fs.readdirSync(path).filter((name) => name !== '.own-mark'),
    ['elsewhere'],
  );
});

test('if another process deletes the new name during a rename, the file keeps its old name', async (t) => {
  const { path, rename } = await prepareRename(t);
  runAfterLink(t, () => fs.unlinkSync(join(path, 'new')));
  assert.throws(rename, /ENOENT/);
  assert.equal(fs.readFileSync(join(path, 'old'), 'utf8'), 'a text');
  assert.deepEqual(
    fs.readdirSync(path).filter((name) => name !== '.own-mark'),
    ['old'],
  );
});
