import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { rootPath } from '#core/item-path.ts';
import { ItemExists, ItemNotFound, StorageFull, StorageUnavailable } from '#ports/storage-errors.ts';
import { evidenceEntry } from '../../src/adapters/storage/disk/evidence.ts';
import { openRoot } from '../../src/adapters/storage/disk/open-within-root.ts';
import { localStorages } from '../../src/adapters/storage/local-storages.ts';
import { atEnd } from '../parts/at-end.ts';
import { temporaryFolder } from '../start.ts';
import { localDisk } from './local-disk.ts';
import { MinimalStorage } from './minimal-storage.ts';
import { bindMountAt, createMountFolder, mountAt, mountExt4At, mountSmallDisk, unmount } from './small-disk.ts';
import {
  createFolder,
  namesIn,
  newToken,
  parsePath,
  putFile,
  readText,
  removeItem,
  renameItem,
  startUpload,
  storageContract,
} from './storage.contract.ts';
import { until } from './until.ts';

/** Returns all names below a folder, including hidden ones. */
const namesBelow = (folder: string) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
const leftovers = (folder: string) => namesBelow(folder).filter((name) => /\.postern(-|\/)/.test(name));
/** Returns how many descriptors of this process refer to an entry within a folder. */
const descriptorsWithin = (folder: string) =>
  readdirSync('/proc/self/fd').filter((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`).startsWith(`${folder}/`);
    } catch {
      return false; // closed meanwhile
    }
  }).length;

storageContract('disk', async (t) => localDisk(t, await temporaryFolder(t)));
storageContract('minimal service (fake)', async () => new MinimalStorage());

test('a symbolic link below the root is treated as missing, regardless of its target, but its name counts as used', async (t) => {
  const [root, outside] = [await temporaryFolder(t), await temporaryFolder(t)];
  mkdirSync(join(root, 'real'));
  writeFileSync(join(root, 'real/file'), 'inside');
  writeFileSync(join(outside, 'file'), 'OUTSIDE');
  const targets = {
    out: outside,
    in: join(root, 'real'),
    relative: 'real',
    up: '..',
    dangling: 'nowhere',
    itself: 'itself',
    proc: '/proc/self/root',
    file: 'real/file',
  };
  for (const [name, target] of Object.entries(targets)) symlinkSync(target, join(root, name));
  const storage = localDisk(t, root);
  for (const name of Object.keys(targets)) {
    for (const where of [`/${name}`, `/${name}/file`]) {
      assert.equal(await storage.stat(parsePath(where)), null, where);
      assert.equal(await storage.open(parsePath(where)), null, where);
      assert.equal(await storage.list(parsePath(where)), null, where);
    }
    await assert.rejects(putFile(storage, `/${name}`, 'new', 'text'), ItemNotFound);
    await assert.rejects(putFile(storage, '/', name, 'text'), ItemExists);
    await assert.rejects(createFolder(storage, parsePath(`/${name}`), 'new'), ItemNotFound);
    await assert.rejects(renameItem(storage, parsePath('/'), name, 'renamed'), ItemNotFound);
    await assert.rejects(renameItem(storage, parsePath(`/${name}`), 'file', 'renamed'), ItemNotFound);
    await assert.rejects(removeItem(storage, parsePath('/'), name), ItemNotFound);
    await assert.rejects(removeItem(storage, parsePath(`/${name}`), 'file'), ItemNotFound);
  }
  assert.deepEqual(await namesIn(storage, '/'), ['real']);
  assert.deepEqual(readdirSync(outside), ['file']);
  assert.equal(readFileSync(join(root, 'real/file'), 'utf8'), 'inside');
});

test('a folder with symbolic links is deleted, and their targets are kept', async (t) => {
  const [root, outside] = [await temporaryFolder(t), await temporaryFolder(t)];
  mkdirSync(join(root, 'tree/sub'), { recursive: true });
  mkdirSync(join(outside, 'kept'));
  symlinkSync(outside, join(root, 'tree/out'));
  symlinkSync(outside, join(root, 'tree/sub/out'));
  const storage = localDisk(t, root);
  await removeItem(storage, parsePath('/'), 'tree');
  await until(() => namesBelow(root).length === 1);
  assert.deepEqual(readdirSync(outside), ['kept']);
  assert.deepEqual(namesBelow(root), ['.postern']);
});

test('if .postern is a symbolic link, it is not followed', async (t) => {
  const [root, outside] = [await temporaryFolder(t), await temporaryFolder(t)];
  writeFileSync(join(outside, 'file'), 'OUTSIDE');
  writeFileSync(join(root, 'mine'), 'inside');
  symlinkSync(outside, join(root, '.postern'));
  const storage = localDisk(t, root);
  await assert.rejects(putFile(storage, '/', 'new', 'text'));
  await assert.rejects(removeItem(storage, parsePath('/'), 'mine'));
  await storage.sweep(async () => []).catch(() => {});
  assert.deepEqual(readdirSync(outside), ['file']);
  assert.equal(readFileSync(join(root, 'mine'), 'utf8'), 'inside');
});

test('a named pipe is treated as missing, and no operation waits for it', async (t) => {
  const root = await temporaryFolder(t);
  execFileSync('mkfifo', [join(root, 'pipe')]);
  const storage = localDisk(t, root);
  assert.equal(await storage.stat(parsePath('/pipe')), null);
  assert.equal(await storage.open(parsePath('/pipe')), null);
  assert.deepEqual(await namesIn(storage, '/'), []);
  await assert.rejects(removeItem(storage, parsePath('/'), 'pipe'), ItemNotFound);
});

test('invalid and reserved names are not listed, and are deleted with their folder', async (t) => {
  const root = await temporaryFolder(t);
  mkdirSync(join(root, 'tree/.postern'), { recursive: true });
  mkdirSync(Buffer.concat([Buffer.from(`${root}/tree/`), Buffer.from([0x66, 0xff, 0x67])]));
  writeFileSync(Buffer.concat([Buffer.from(`${root}/tree/`), Buffer.from([0xc3, 0x28])]), 'x');
  for (const name of ['.Postern-x', 'a\nb', 'back\\slash', 'ok', '.hidden']) writeFileSync(join(root, 'tree', name), 'x');
  const storage = localDisk(t, root);
  assert.deepEqual(await namesIn(storage, '/tree'), ['.hidden', 'ok']);
  await renameItem(storage, parsePath('/'), 'tree', 'moved');
  await removeItem(storage, parsePath('/'), 'moved');
  await until(() => namesBelow(root).length === 1);
});

test('a path longer than the limit of the kernel can be created, read and deleted', async (t) => {
  const root = await temporaryFolder(t);
  const storage = localDisk(t, root);
  const levels: string[] = [];
  for (let level = 0; level < 60; level += 1) {
    await createFolder(storage, parsePath(`/${levels.join('/')}`), 'level'.repeat(20));
    levels.push('level'.repeat(20));
  }
  await putFile(storage, `/${levels.join('/')}`, 'file', 'deep');
  assert.equal(await readText(storage, `/${levels.join('/')}/file`), 'deep');
  await renameItem(storage, parsePath(`/${levels.join('/')}`), 'file', 'renamed');
  await removeItem(storage, parsePath('/'), levels[0] ?? '');
  assert.deepEqual(readdirSync(root), ['.postern']);
  await until(() => readdirSync(join(root, '.postern')).length === 0);
});

test('if a file with hard links is replaced, the other links keep the old content', async (t) => {
  const root = await temporaryFolder(t);
  const storage = localDisk(t, root);
  await putFile(storage, '/', 'doc', 'old');
  linkSync(join(root, 'doc'), join(root, 'other'));
  const original = await storage.stat(parsePath('/doc'));
  await putFile(storage, '/', 'doc', 'new', original?.etag);
  assert.equal(readFileSync(join(root, 'other'), 'utf8'), 'old');
  await until(() => leftovers(root).length === 0);
});

test('on a full disk an upload fails with StorageFull, keeps existing files and leaves no partial file', async (t) => {
  const root = mountSmallDisk(t, 'size=4m');
  if (!root) return;
  const storage = localDisk(t, root);
  await putFile(storage, '/', 'before', 'kept');
  await assert.rejects(putFile(storage, '/', 'large', Buffer.alloc(8 << 20, 1)), StorageFull);
  const original = await storage.stat(parsePath('/before'));
  await assert.rejects(putFile(storage, '/', 'before', Buffer.alloc(8 << 20, 1), original?.etag), StorageFull);
  assert.equal(descriptorsWithin(root), 0);
  await until(() => namesBelow(root).join() === '.postern,before');
  await putFile(storage, '/', 'after', Buffer.alloc(2 << 20, 1));
  assert.equal(await readText(storage, '/before'), 'kept');
});

test('a file that is larger than the free space of the disk is refused before its first byte', async (t) => {
  const root = mountSmallDisk(t, 'size=4m');
  if (!root) return;
  const target = { parent: rootPath, name: 'large', size: 8 << 20, ifTaken: 'refuse' } as const;
  await assert.rejects(localDisk(t, root).upload(target, newToken()), StorageFull);
  assert.deepEqual(namesBelow(root), ['.postern']);
});

test('the minimum free space applies to the disk of the database, not to a location on another disk', async (t) => {
  const data = createMountFolder(t);
  if (!mountAt(t, join(data, 'files'), 'size=4m')) return;
  const storages = localStorages([], data, 16 << 20);
  atEnd(t, () => storages[Symbol.asyncDispose]());
  const storage = await storages.open({ id: 1, tid: 1, kind: 'local', configuration: JSON.stringify({ path: 'files' }) });
  await putFile(storage, '/', 'a', 'text');
});

test('on a disk mounted below the root, a change that runs again can open its evidence, although the note about the mount exists already', (t) => {
  const folder = createMountFolder(t);
  if (!mountAt(t, join(folder, 'mounted'), 'size=4m')) return;
  const root = openRoot(folder);
  atEnd(t, () => closeSync(root.descriptor));
  const token = newToken();
  for (const _attempt of ['first', 'second']) closeSync(evidenceEntry(root, parsePath('/mounted'), token).folder);
});

test('on a disk without free inodes, creating a folder fails with StorageFull', async (t) => {
  const root = mountSmallDisk(t, 'size=4m,nr_inodes=5');
  if (!root) return;
  const storage = localDisk(t, root);
  for (const name of ['a', 'b', 'c']) writeFileSync(join(root, name), '');
  await assert.rejects(
    createFolder(storage, parsePath('/'), 'new').then(() => createFolder(storage, parsePath('/'), 'newer')),
    StorageFull,
  );
});

test('on a disk mounted below the root, uploads, renames and deletions work and leave no other files', async (t) => {
  const root = createMountFolder(t);
  if (!mountAt(t, join(root, 'mounted'), 'size=16m')) return;
  const storage = localDisk(t, root);
  await putFile(storage, '/mounted', 'doc', 'old');
  const original = await storage.stat(parsePath('/mounted/doc'));
  await putFile(storage, '/mounted', 'doc', 'new', original?.etag);
  await assert.rejects(putFile(storage, '/mounted', 'doc', 'newer'), ItemExists);
  await renameItem(storage, parsePath('/mounted'), 'doc', 'renamed');
  mkdirSync(join(root, 'mounted/tree/sub/deeper'), { recursive: true });
  await removeItem(storage, parsePath('/mounted'), 'tree');
  assert.equal(await readText(storage, '/mounted/renamed'), 'new');
  assert.deepEqual(namesBelow(join(root, 'mounted')), ['renamed']);
});

test('a folder with many folders can be deleted on a full disk that is mounted below the root', async (t) => {
  const root = createMountFolder(t);
  const mounted = join(root, 'mounted');
  if (!mountExt4At(t, mounted, 8 << 20)) return;
  for (let index = 0; index < 400; index += 1) mkdirSync(join(mounted, `tree/${index}/sub`), { recursive: true });
  const storage = localDisk(t, root);
  const filler = openSync(join(mounted, 'filler'), 'w');
  for (const size of [1 << 16, 1])
    try {
      for (;;) writeSync(filler, Buffer.alloc(size));
    } catch {}
  closeSync(filler);
  await removeItem(storage, parsePath('/mounted'), 'tree');
  assert.deepEqual(namesBelow(mounted), ['filler', 'lost+found']);
});

test('in a bind mount from the same disk, uploads, renames and deletions work', async (t) => {
  const root = createMountFolder(t);
  const bound = join(root, 'bound');
  mkdirSync(join(root, 'elsewhere'));
  if (!bindMountAt(t, bound, join(root, 'elsewhere'))) return;
  const storage = localDisk(t, root);
  await putFile(storage, '/bound', 'doc', 'old');
  const original = await storage.stat(parsePath('/bound/doc'));
  await putFile(storage, '/bound', 'doc', 'new', original?.etag);
  await renameItem(storage, parsePath('/bound'), 'doc', 'renamed');
  assert.equal(await readText(storage, '/bound/renamed'), 'new');
  await createFolder(storage, parsePath('/bound'), 'made');
  for (const name of ['renamed', 'made']) await removeItem(storage, parsePath('/bound'), name);
  assert.deepEqual(namesBelow(bound), []);
});

test('an interrupted deletion on a disk mounted below the root is completed by recovery', async (t) => {
  const root = createMountFolder(t);
  const mounted = join(root, 'mounted');
  if (!mountAt(t, mounted, 'size=64m')) return;
  for (let index = 0; index < 60; index += 1) mkdirSync(join(mounted, `tree/${index}`), { recursive: true });
  // A mounted folder cannot be deleted, so the removal stops in the middle, as in a crash.
  if (!mountAt(t, join(mounted, 'tree/stop'), 'size=1m')) return;
  const interruptedToken = newToken();
  const storage = localDisk(t, root);
  await storage.remove(parsePath('/mounted'), 'tree', { token: interruptedToken }).catch(() => {});
  assert.notDeepEqual(namesBelow(mounted), []);
  for (const name of readdirSync(mounted)) unmount(join(mounted, name));
  const pendingChange = { action: 'delete', parent: parsePath('/mounted'), name: 'tree', newName: '', token: interruptedToken } as const;
  assert.equal(await storage.recover(pendingChange), 'tree');
  await storage.clearEvidence(pendingChange);
  await storage.sweep(async () => []);
  assert.deepEqual(namesBelow(mounted), []);
});

test('recovery of a change in a mount fails until the disk is mounted again', async (t) => {
  const root = createMountFolder(t);
  mkdirSync(join(root, 'elsewhere/sub'), { recursive: true });
  mkdirSync(join(root, 'other'));
  const bound = join(root, 'bound');
  if (!bindMountAt(t, bound, join(root, 'elsewhere'))) return;
  const storage = localDisk(t, root);
  const deletion = (parent: string) =>
    ({ action: 'delete', parent: parsePath(parent), name: 'doc', newName: '', token: newToken() }) as const;
  const [inMount, inSub] = [deletion('/bound'), deletion('/bound/sub')];
  for (const pendingChange of [inMount, inSub]) {
    writeFileSync(join(root, ...pendingChange.parent, 'doc'), '');
    await storage.remove(pendingChange.parent, 'doc', pendingChange);
  }
  unmount(bound);
  for (const pendingChange of [inMount, inSub]) await assert.rejects(storage.recover(pendingChange), StorageUnavailable);
  bindMountAt(t, bound, join(root, 'elsewhere'));
  assert.equal(await storage.recover(inMount), 'doc');
  await storage.clearEvidence(inMount);
  // Another process has deleted the folder in the mount. Recovery must not wait until the folder exists again.
  rmSync(join(root, 'elsewhere/sub'), { recursive: true });
  await assert.rejects(storage.recover(inSub), ItemNotFound);
  await storage.sweep(async () => []);
  assert.deepEqual([...namesBelow(join(root, '.postern')), ...namesBelow(bound)], []);
});

test('a file with a modification time in the far future has a valid date', async (t) => {
  const root = mountSmallDisk(t, 'size=4m');
  if (!root) return;
  const storage = localDisk(t, root);
  await putFile(storage, '/', 'future', 'text');
  execFileSync('touch', ['-d', '@9000000000000', join(root, 'future')]);
  const modified = (await storage.stat(parsePath('/future')))?.modified ?? Number.NaN;
  assert.ok(Number.isFinite(new Date(modified).getTime()), 'the time can be written as a date');
});

test('if the root is missing, operations fail with StorageUnavailable', async (t) => {
  const base = await temporaryFolder(t);
  const root = join(base, 'root');
  mkdirSync(root);
  const storage = localDisk(t, root);
  await putFile(storage, '/', 'doc', 'text');
  rmSync(root, { recursive: true });
  await assert.rejects(storage.stat(parsePath('/doc')), StorageUnavailable);
  await assert.rejects(storage.open(parsePath('/doc')), StorageUnavailable);
  await assert.rejects(startUpload(storage, '/', 'doc'), StorageUnavailable);
  await assert.rejects(removeItem(storage, parsePath('/'), 'doc'), StorageUnavailable);
  await assert.rejects(storage.list(parsePath('/sub')), StorageUnavailable);
});

test('if the root disappears during an upload, placing the file fails and the root is not created again', async (t) => {
  const base = await temporaryFolder(t);
  const root = join(base, 'root');
  mkdirSync(root);
  const storage = localDisk(t, root);
  const upload = await startUpload(storage, '/', 'doc');
  await upload.write(Buffer.from('text'));
  renameSync(root, join(base, 'moved'));
  rmSync(join(base, 'moved'), { recursive: true });
  await assert.rejects(upload.place(), StorageUnavailable);
  await upload.discard().catch(() => {});
  assert.equal(existsSync(root), false);
});

test('a cached small file is read again after it is overwritten in place', async (t) => {
  const root = await temporaryFolder(t);
  const storage = localDisk(t, root);
  const file = join(root, 'doc');
  writeFileSync(file, 'old.');
  await until(() => statSync(file).ctimeMs < Date.now() - 1100); // old enough to be cached
  const [first, second] = [await storage.open(parsePath('/doc')), await storage.open(parsePath('/doc'))];
  assert.equal(await readText(storage, '/doc'), 'old.');
  assert.equal(second?.content, first?.content, 'the second open returns the cached content');
  writeFileSync(file, 'new.');
  assert.equal(await readText(storage, '/doc'), 'new.');
  rmSync(file);
  assert.equal(await storage.open(parsePath('/doc')), null);
});

test('a large file is opened and closed separately for each of many simultaneous readers', async (t) => {
  const root = await temporaryFolder(t);
  const storage = localDisk(t, root);
  writeFileSync(join(root, 'large'), Buffer.alloc(1 << 20, 'x'));
  const files = await Promise.all(Array.from({ length: 20 }, () => storage.open(parsePath('/large'))));
  assert.equal(descriptorsWithin(root), 20);
  await Promise.all(files.map((file) => file?.close()));
  assert.equal(descriptorsWithin(root), 0);
});

test('new folders get the mode and group of their parent folder, and uploaded files get that mode without execute permission, despite the umask', async (t) => {
  const folder = await temporaryFolder(t);
  const umask = process.umask(0o077);
  atEnd(t, () => void process.umask(umask));
  chmodSync(folder, 0o2775);
  const storage = localDisk(t, folder);
  const upload = await startUpload(storage, '/', 'a.txt');
  await upload.place();
  await upload.discard();
  await createFolder(storage, parsePath('/'), 'made');
  const modeOf = (name: string) => (statSync(join(folder, name)).mode & 0o7777).toString(8);
  assert.deepEqual([modeOf('a.txt'), modeOf('made')], ['664', '2775']);
  assert.equal(statSync(join(folder, 'made')).gid, statSync(folder).gid);
});
