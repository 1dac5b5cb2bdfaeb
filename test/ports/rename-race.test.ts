import assert from 'node:assert/strict';
import fs from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ConfirmationExpired } from '#adapters/storage/disk/disk-errors.ts';
import { monotonicTime } from '#adapters/storage/disk/monotonic-time.ts';
import { removeEntry } from '#adapters/storage/disk/remove-entry.ts';
import { recoverRename, renameEntry } from '#adapters/storage/disk/rename-entry.ts';
import { temporaryFolder } from '../start.ts';

/**
 * Creates a folder with a file `old`.
 * @returns the path of the folder, and functions that rename the file to `new` and recover this rename
 */
async function prepareRename(t: TestContext) {
  const path = await temporaryFolder(t);
  fs.writeFileSync(join(path, 'old'), 'a text');
  const folder = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
  t.after(() => fs.closeSync(folder));
  const directoryEntry = (name: string) => ({ folder, name });
  const renaming = { old: directoryEntry('old'), newEntry: directoryEntry('new'), token: 'token' };
  const own = directoryEntry('.own');
  return { path, rename: () => renameEntry(renaming, { own, pending: [] }), recover: () => recoverRename(renaming, own) };
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

/** Makes the file system refuse hard links. */
function refuseLinks(t: TestContext): void {
  t.mock.method(fs, 'linkSync', () => {
    throw Object.assign(new Error('EPERM'), { code: 'EPERM' });
  });
}

test('without hard links, a rename keeps a file that gets the new name during the rename', async (t) => {
  const { path, rename } = await prepareRename(t);
  refuseLinks(t);
  const { symlinkSync } = fs;
  // `symlinkSync` creates the mark of the rename, after the check that the new name is free.
  t.mock.method(fs, 'symlinkSync', (target: fs.PathLike, name: fs.PathLike) => {
    symlinkSync(target, name);
    if (!fs.existsSync(join(path, 'new'))) fs.writeFileSync(join(path, 'new'), 'uploaded meanwhile');
  });
  assert.throws(rename, /EEXIST/);
  assert.equal(fs.readFileSync(join(path, 'new'), 'utf8'), 'uploaded meanwhile');
  assert.equal(fs.readFileSync(join(path, 'old'), 'utf8'), 'a text');
});

test('without hard links, a rename that was suspended and then fails keeps what another process has stored under the new name', async (t) => {
  const { path, rename } = await prepareRename(t);
  refuseLinks(t);
  t.mock.method(fs, 'renameSync', () => {
    fs.unlinkSync(join(path, 'new')); // as recovery in another process does: it deletes the claim
    fs.writeFileSync(join(path, 'new'), 'uploaded meanwhile');
    throw Object.assign(new Error('ENOENT'), { code: 'ENOENT' });
  });
  assert.throws(rename, /ENOENT/);
  assert.equal(fs.readFileSync(join(path, 'new'), 'utf8'), 'uploaded meanwhile');
});

test('without hard links, a rename that fails leaves no empty file under the new name', async (t) => {
  const { path, rename } = await prepareRename(t);
  refuseLinks(t);
  const renameMock = t.mock.method(fs, 'renameSync', () => {
    throw Object.assign(new Error('EACCES'), { code: 'EACCES' });
  });
  assert.throws(rename, /EACCES/);
  assert.equal(fs.existsSync(join(path, 'new')), false);
  renameMock.mock.restore();
});

test('if the disk moves a folder to the staging area so late that others may have stored new files in it, the folder is moved back', async (t) => {
  const path = await temporaryFolder(t);
  fs.mkdirSync(join(path, 'box'));
  fs.mkdirSync(join(path, '.postern'));
  fs.writeFileSync(join(path, 'box/new.txt'), 'uploaded meanwhile');
  const openFolder = (name: string) => {
    const descriptor = fs.openSync(name, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
    t.after(() => fs.closeSync(descriptor));
    return descriptor;
  };
  const [folder, staging] = [openFolder(path), openFolder(join(path, '.postern'))];
  const removal = { entry: { folder, name: 'box' }, evidence: { folder: staging, name: 'token' }, token: 'token' };
  assert.throws(() => removeEntry(removal, monotonicTime() - 60_000), ConfirmationExpired);
  assert.equal(fs.readFileSync(join(path, 'box/new.txt'), 'utf8'), 'uploaded meanwhile');
  assert.deepEqual(fs.readdirSync(join(path, '.postern')), []);
  removeEntry(removal, monotonicTime());
  assert.equal(fs.existsSync(join(path, 'box')), false);
});

test('without hard links, recovery of a rename that was killed before its last step leaves no empty file under the new name', async (t) => {
  const { path, rename, recover } = await prepareRename(t);
  refuseLinks(t);
  const { unlinkSync } = fs;
  const kill = () => {
    throw Object.assign(new Error('killed'), { code: 'EIO' });
  };
  const failures = [
    t.mock.method(fs, 'renameSync', kill),
    t.mock.method(fs, 'unlinkSync', (name: fs.PathLike) => (String(name).endsWith('/new') ? kill() : unlinkSync(name))),
  ];
  assert.throws(rename, /the disk failed/);
  for (const failure of failures) failure.mock.restore();
  assert.equal(fs.existsSync(join(path, 'new')), true);
  assert.equal(recover(), false);
  assert.equal(fs.existsSync(join(path, 'new')), false);
  assert.equal(fs.readFileSync(join(path, 'old'), 'utf8'), 'a text');
});
