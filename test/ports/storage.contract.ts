import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { crc32 } from 'node:zlib';
import { keyedMutex } from '#adapters/store/keyed-mutex.ts';
import { formatItemPath, type ItemPath, parseStoredPath } from '#core/item-path.ts';
import type { RunFile } from '#ports/file-runs.ts';
import type { ChangeContext, OpenFile, PendingFileChange, Storage } from '#ports/storage.ts';
import { ItemChanged, ItemExists, ItemNotFound } from '#ports/storage-errors.ts';
import { StoreUnavailable } from '#ports/store.ts';

/** Opens an empty storage that nothing else uses. */
export type OpenStorage = (t: TestContext) => Promise<Storage>;

const locks = new WeakMap<Storage, ReturnType<typeof keyedMutex>>();

/** Runs a change. If `traits.create` of the storage is not `atomic`, takes the lock of the name for the change, as features do. */
function underLock<T>(storage: Storage, parent: string, name: string, change: () => Promise<T>): Promise<T> {
  if (storage.traits.create === 'atomic') return change();
  const lock = locks.get(storage) ?? keyedMutex();
  locks.set(storage, lock);
  return lock(`${parent}/${name}`, change);
}

let tokens = 0;
/** Returns a new unique token. */
export function newToken(): string {
  tokens += 1;
  return `token-${tokens}`;
}

export function parsePath(text: string): ItemPath {
  const parsed = parseStoredPath(text);
  assert.ok(parsed, `${text} is a path`);
  return parsed;
}

/** Starts an upload. @param etag of the file to replace; without an ETag, the name must be free @param size default: unknown */
export const startUpload = (
  storage: Storage,
  parent: string,
  name: string,
  { token: uploadToken = newToken(), etag, size = null }: { token?: string; etag?: string; size?: number | null } = {},
) => storage.upload({ parent: parsePath(parent), name, size, ifTaken: etag === undefined ? 'refuse' : { replaces: etag } }, uploadToken);

/** Uploads a file and discards the staging file, as features do. */
export async function putFile(storage: Storage, parent: string, name: string, text: string | Buffer, etag?: string) {
  const bytes = Buffer.from(text);
  const upload = await startUpload(storage, parent, name, { size: bytes.length, ...(etag === undefined ? {} : { etag }) });
  try {
    await upload.write(bytes);
    return await underLock(storage, parent, name, () => upload.place());
  } finally {
    await upload.discard();
  }
}

/** Runs a change and clears its evidence, as features do. */
async function runChange(
  storage: Storage,
  change: Omit<PendingFileChange, 'token'>,
  act: (context: ChangeContext) => Promise<void>,
): Promise<void> {
  const context = { token: newToken(), pendingTokens: [] };
  try {
    await underLock(storage, formatItemPath(change.parent), change.newName || change.name, () => act(context));
  } finally {
    await storage.clearEvidence({ ...change, token: context.token }).catch(() => {}); // perhaps the folder does not exist
  }
}

export const createFolder = (storage: Storage, parent: ItemPath, name: string) =>
  runChange(storage, { action: 'createFolder', parent, name, newName: '' }, (context) => storage.createFolder(parent, name, context));

export const renameItem = (storage: Storage, parent: ItemPath, name: string, newName: string) =>
  runChange(storage, { action: 'rename', parent, name, newName }, (context) => storage.rename(parent, name, newName, context));

export const removeItem = (storage: Storage, parent: ItemPath, name: string) =>
  runChange(storage, { action: 'delete', parent, name, newName: '' }, (context) => storage.remove(parent, name, context));

/** Returns the text of a file, or null if it does not exist. */
export async function readText(storage: Storage, where: string): Promise<string | null> {
  const file = await storage.open(parsePath(where));
  if (!file) return null;
  try {
    return (await readBytes(file)).toString();
  } finally {
    await file.close();
  }
}

/** Returns the bytes of a range of a file; of the entire file by default. */
export async function readBytes(file: OpenFile, range = { start: 0, end: file.entry.size - 1 }): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of file.read(range)) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

export async function namesIn(storage: Storage, folder: string): Promise<string[] | null> {
  const batches = await storage.list(parsePath(folder));
  if (!batches) return null;
  const names: string[] = [];
  for await (const batch of batches) names.push(...batch.map(({ name }) => name));
  return names.sort();
}

const successCount = (results: readonly PromiseSettledResult<unknown>[]) => results.filter(({ status }) => status === 'fulfilled').length;
const failureCount = (results: readonly PromiseSettledResult<unknown>[], kind: new () => Error) =>
  results.filter((result) => result.status === 'rejected' && result.reason instanceof kind).length;

/** Tests uploads. Every storage must pass. */
export function uploadContract(name: string, open: OpenStorage): void {
  test(`${name}: a file is not visible before its upload is complete`, async (t) => {
    const storage = await open(t);
    const upload = await startUpload(storage, '/', 'a.bin');
    for (let index = 0; index < 4; index += 1) await upload.write(Buffer.alloc(1 << 20, index));
    assert.deepEqual(await namesIn(storage, '/'), []);
    assert.equal(await storage.stat(parsePath('/a.bin')), null);
    assert.equal(await upload.place(), 'a.bin');
    await upload.discard();
    assert.equal((await storage.stat(parsePath('/a.bin')))?.size, 4 << 20);
    assert.deepEqual(await namesIn(storage, '/'), ['a.bin']);
  });

  test(`${name}: a file does not become visible if another process has recovered its upload meanwhile`, async (t) => {
    const storage = await open(t);
    await putFile(storage, '/', 'replaced.txt', 'old');
    const replaced = await storage.stat(parsePath('/replaced.txt'));
    const uploads = [
      await startUpload(storage, '/', 'new.txt', { size: 3 }),
      await startUpload(storage, '/', 'large.bin'),
      await startUpload(storage, '/', 'replaced.txt', { size: 3, etag: replaced?.etag ?? '' }),
      await storage.upload({ parent: parsePath('/'), name: 'box.txt', size: 3, ifTaken: 'number' }, newToken()),
    ];
    for (const upload of uploads) {
      await upload.write(Buffer.from('new'));
      await upload.sync();
      await assert.rejects(
        upload.place(() => Promise.reject(new Error('recovered'))),
        /recovered/,
      );
      await upload.discard();
    }
    assert.deepEqual(await namesIn(storage, '/'), ['replaced.txt']);
    assert.equal(await readText(storage, '/replaced.txt'), 'old');
  });

  test(`${name}: a written chunk can be reused for the next bytes of its upload`, async (t) => {
    const storage = await open(t);
    const upload = await startUpload(storage, '/', 'a.bin');
    const chunk = Buffer.alloc(100_000);
    for (let index = 1; index <= 30; index += 1) await upload.write(chunk.fill(index));
    chunk.fill(0);
    await upload.place();
    await upload.discard();
    const file = await storage.open(parsePath('/a.bin'));
    assert.ok(file);
    const bytes = await readBytes(file);
    await file.close();
    for (let index = 1; index <= 30; index += 1)
      assert.ok(
        bytes.subarray((index - 1) * chunk.length, index * chunk.length).equals(Buffer.alloc(chunk.length, index)),
        `chunk ${index}`,
      );
  });

  test(`${name}: an aborted upload leaves no file`, async (t) => {
    const storage = await open(t);
    const upload = await startUpload(storage, '/', 'aborted');
    await upload.write(Buffer.alloc(3 << 20));
    await upload.discard();
    assert.deepEqual(await namesIn(storage, '/'), []);
  });

  test(`${name}: a new file never replaces an existing file or folder`, async (t) => {
    const storage = await open(t);
    await putFile(storage, '/', 'taken', 'first');
    await createFolder(storage, parsePath('/'), 'folder');
    await assert.rejects(putFile(storage, '/', 'taken', 'second'), ItemExists);
    await assert.rejects(putFile(storage, '/', 'folder', 'second'), ItemExists);
    assert.equal(await readText(storage, '/taken'), 'first');
  });

  test(`${name}: if a hundred uploads use one name, exactly one is kept, with its complete content`, async (t) => {
    const storage = await open(t);
    const all = Array.from({ length: 100 }, (_, index) => putFile(storage, '/', 'one', `${index}`.repeat(5000)));
    const results = await Promise.allSettled(all);
    assert.equal(successCount(results), 1);
    assert.equal(failureCount(results, ItemExists), 99);
    const winner = results.findIndex(({ status }) => status === 'fulfilled');
    assert.equal(await readText(storage, '/one'), `${winner}`.repeat(5000));
  });

  test(`${name}: if fifty uploads replace the same version of a file, exactly one succeeds`, async (t) => {
    const storage = await open(t);
    await putFile(storage, '/', 'doc', 'old');
    const entry = await storage.stat(parsePath('/doc'));
    assert.ok(entry);
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, (_, index) => putFile(storage, '/', 'doc', `new ${index}`, entry.etag)),
    );
    assert.equal(successCount(results), 1);
    assert.equal(failureCount(results, ItemChanged), 49);
    assert.deepEqual(await namesIn(storage, '/'), ['doc']);
  });

  test(`${name}: neither a deleted file nor a folder can be replaced`, async (t) => {
    const storage = await open(t);
    await putFile(storage, '/', 'doc', 'old');
    const etag = (await storage.stat(parsePath('/doc')))?.etag ?? '';
    await removeItem(storage, parsePath('/'), 'doc');
    await assert.rejects(putFile(storage, '/', 'doc', 'new', etag), ItemChanged);
    await createFolder(storage, parsePath('/'), 'folder');
    const folder = await storage.stat(parsePath('/folder'));
    await assert.rejects(putFile(storage, '/', 'folder', 'new', folder?.etag ?? ''), ItemChanged);
  });

  test(`${name}: uploads to a drop box get different names, also if one is sent with a name that another one gets`, async (t) => {
    const storage = await open(t);
    const lockedNames = new Set<string>();
    const place = async (sentName: string, text: string) => {
      const upload = await storage.upload({ parent: parsePath('/'), name: sentName, size: null, ifTaken: 'number' }, newToken());
      try {
        await upload.write(Buffer.from(text));
        return await upload.place(undefined, (candidate, step) => {
          lockedNames.add(candidate);
          return underLock(storage, '/', candidate, step);
        });
      } finally {
        await upload.discard();
      }
    };
    const names = await Promise.all(['one', 'two', 'three'].map((text) => place('a.txt', text)));
    assert.deepEqual([...names].sort(), ['a (2).txt', 'a (3).txt', 'a.txt']);
    const more = await Promise.all([place('a.txt', 'four'), place('a (4).txt', 'five')]);
    const texts = await Promise.all([...names, ...more].map((placed) => readText(storage, `/${placed}`)));
    assert.deepEqual(texts, ['one', 'two', 'three', 'four', 'five']);
    if (storage.traits.create === 'checked') assert.ok(more.every((placed) => lockedNames.has(placed)));
  });
}

/** Tests renames, deletions and new folders. Every storage must pass. */
export function changeContract(name: string, open: OpenStorage): void {
  test(`${name}: a rename to an existing name is refused, even to the name of an empty folder`, async (t) => {
    const storage = await open(t);
    await putFile(storage, '/', 'a', 'a');
    await putFile(storage, '/', 'b', 'b');
    await createFolder(storage, parsePath('/'), 'full');
    await createFolder(storage, parsePath('/'), 'empty');
    await putFile(storage, '/full', 'inner', 'inner');
    for (const [from, to] of [
      ['a', 'b'],
      ['a', 'empty'],
      ['full', 'empty'],
      ['full', 'a'],
      ['empty', 'full'],
    ] as const)
      await assert.rejects(renameItem(storage, parsePath('/'), from, to), ItemExists, `${from} to ${to}`);
    await assert.rejects(renameItem(storage, parsePath('/'), 'none', 'new'), ItemNotFound);
    assert.deepEqual(await namesIn(storage, '/'), ['a', 'b', 'empty', 'full']);
    await renameItem(storage, parsePath('/'), 'full', 'moved');
    assert.equal(await readText(storage, '/moved/inner'), 'inner');
  });

  test(`${name}: if a hundred files are renamed to one name, exactly one rename succeeds, and no file is lost`, async (t) => {
    const storage = await open(t);
    for (let index = 0; index < 100; index += 1) await putFile(storage, '/', `from-${index}`, `${index}`);
    const results = await Promise.allSettled(
      Array.from({ length: 100 }, (_, index) => renameItem(storage, parsePath('/'), `from-${index}`, 'to')),
    );
    assert.equal(successCount(results), 1);
    assert.equal(failureCount(results, ItemExists), 99);
    assert.equal((await namesIn(storage, '/'))?.length, 100);
  });

  test(`${name}: if one file is renamed fifty times at once, exactly one rename succeeds`, async (t) => {
    const storage = await open(t);
    await putFile(storage, '/', 'from', 'text');
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, (_, index) => renameItem(storage, parsePath('/'), 'from', `to-${index}`)),
    );
    assert.equal(successCount(results), 1);
    assert.equal((await namesIn(storage, '/'))?.length, 1);
  });

  test(`${name}: if fifty requests create the same folder, exactly one succeeds`, async (t) => {
    const storage = await open(t);
    const results = await Promise.allSettled(Array.from({ length: 50 }, () => createFolder(storage, parsePath('/'), 'new')));
    assert.equal(successCount(results), 1);
    assert.equal(failureCount(results, ItemExists), 49);
  });

  test(`${name}: every page of a folder shows a change at once`, async (t) => {
    const storage = await open(t);
    const pageFrom = async (startIndex: number) => {
      const query = { sort: 'name', order: 'asc', searchWord: null, startIndex, pageSize: 1 } as const;
      const page = await storage.page(parsePath('/'), query);
      page?.memory?.[Symbol.dispose]();
      return page?.entries[0]?.name;
    };
    const changes = [
      { act: () => putFile(storage, '/', 'c.txt', 'text'), second: 'c.txt' },
      { act: () => putFile(storage, '/', 'b.txt', 'text'), second: 'b.txt' },
      { act: () => renameItem(storage, parsePath('/'), 'b.txt', 'd.txt'), second: 'c.txt' },
      { act: () => removeItem(storage, parsePath('/'), 'c.txt'), second: 'd.txt' },
      { act: () => createFolder(storage, parsePath('/'), 'z'), second: 'a.txt' },
    ];
    await putFile(storage, '/', 'a.txt', 'text');
    for (const { act, second } of changes) {
      await pageFrom(0);
      await pageFrom(1);
      await act();
      assert.equal(await pageFrom(1), second);
    }
  });

  test(`${name}: a folder is deleted with its contents, and its name is free at once`, async (t) => {
    const storage = await open(t);
    await createFolder(storage, parsePath('/'), 'tree');
    await createFolder(storage, parsePath('/tree'), 'branch');
    await Promise.all(Array.from({ length: 150 }, (_, index) => putFile(storage, '/tree/branch', `leaf ${index}`, 'x')));
    await removeItem(storage, parsePath('/'), 'tree');
    assert.deepEqual(await namesIn(storage, '/'), []);
    await createFolder(storage, parsePath('/'), 'tree');
    assert.deepEqual(await namesIn(storage, '/tree'), []);
  });

  test(`${name}: nothing is created, renamed or deleted in a folder that does not exist`, async (t) => {
    const storage = await open(t);
    await putFile(storage, '/', 'file', 'text');
    for (const parent of ['/none', '/file', '/none/deeper']) {
      await assert.rejects(
        startUpload(storage, parent, 'x').then((upload) => upload.place()),
        ItemNotFound,
        parent,
      );
      await assert.rejects(createFolder(storage, parsePath(parent), 'x'), ItemNotFound, parent);
      await assert.rejects(renameItem(storage, parsePath(parent), 'x', 'y'), ItemNotFound, parent);
      await assert.rejects(removeItem(storage, parsePath(parent), 'x'), ItemNotFound, parent);
    }
    assert.equal(await readText(storage, '/file'), 'text');
  });
}

/** Tests lookups, listings and recovery. */
function lookupContract(name: string, open: OpenStorage): void {
  test(`${name}: every lookup of a missing entry returns null, and so do listing a file and opening a folder`, async (t) => {
    const storage = await open(t);
    await putFile(storage, '/', 'file', 'text');
    const query = { sort: 'name', order: 'asc', searchWord: null, startIndex: 0, pageSize: 10 } as const;
    for (const absent of ['/none', '/file/below', '/none/below']) {
      assert.equal(await storage.stat(parsePath(absent)), null);
      assert.equal(await storage.open(parsePath(absent)), null);
      assert.equal(await storage.list(parsePath(absent)), null);
      assert.equal(await storage.page(parsePath(absent), query), null);
    }
    assert.equal(await storage.list(parsePath('/file')), null);
    assert.equal(await storage.open(parsePath('/')), null);
  });

  test(`${name}: an open file never returns the bytes of a file that has replaced it`, async (t) => {
    const storage = await open(t);
    await putFile(storage, '/', 'doc', 'before');
    const file = await storage.open(parsePath('/doc'));
    assert.ok(file);
    const entry = await storage.stat(parsePath('/doc'));
    await putFile(storage, '/', 'doc', 'after!', entry?.etag);
    await removeItem(storage, parsePath('/'), 'doc');
    const bytes = await readBytes(file).catch((cause: unknown) => {
      if (cause instanceof ItemChanged) return null; // the service keeps no old versions
      throw cause;
    });
    await file.close();
    assert.ok(bytes === null || bytes.toString() === 'before');
  });

  test(`${name}: a long folder is listed completely, both in batches and in pages`, async (t) => {
    const storage = await open(t);
    // More than the thousand entries that services list at once.
    const names = Array.from({ length: 1100 }, (_, index) => `entry ${String(index).padStart(5, '0')}`);
    for (let at = 0; at < names.length; at += 50)
      await Promise.all(names.slice(at, at + 50).map((entry) => createFolder(storage, parsePath('/'), entry)));
    assert.deepEqual(await namesIn(storage, '/'), names);
    const pagedNames: string[] = [];
    for (let startIndex = 0; startIndex < names.length; startIndex += 400) {
      const page = await storage.page(parsePath('/'), { sort: 'name', order: 'asc', searchWord: null, startIndex, pageSize: 400 });
      assert.equal(page?.total, names.length);
      pagedNames.push(...(page?.entries ?? []).map((entry) => entry.name));
    }
    assert.deepEqual(pagedNames, names);
  });

  test(`${name}: recovery distinguishes interrupted from finished uploads, and a sweep keeps the finished file`, async (t) => {
    const storage = await open(t);
    const [interruptedToken, placedToken] = [newToken(), newToken()];
    await (await startUpload(storage, '/', 'gone', { token: interruptedToken })).write(Buffer.alloc(2 << 20));
    const upload = await startUpload(storage, '/', 'kept', { token: placedToken });
    await upload.place(); // without discard(), as after a crash
    const change = { action: 'upload', parent: parsePath('/'), newName: '' } as const;
    assert.equal(await storage.recover({ ...change, name: 'gone', token: interruptedToken }), null);
    assert.equal(await storage.recover({ ...change, name: 'kept', token: placedToken }), 'kept');
    await storage.sweep(async () => []);
    assert.deepEqual(await namesIn(storage, '/'), ['kept']);
  });
}

/** Tests uploads in parts and reads of files. */
function rangeContract(name: string, open: OpenStorage): void {
  for (const [what, size] of [
    ['small', 9],
    ['large', 20 << 20],
  ] as const)
    test(`${name}: a ${what} upload can continue after each part at the last synced offset, if the storage supports this`, async (t) => {
      const storage = await open(t);
      const { continueUpload } = storage;
      if (!continueUpload) return assert.equal(continueUpload, null);
      const bytes = Buffer.alloc(size, Buffer.from(Array.from({ length: 251 }, (_, index) => index)));
      const target = { parent: parsePath('/'), name: 'a', size, ifTaken: 'refuse' } as const;
      // The file is sent in three parts. After the first part, bytes that were not synced are lost.
      const [third, twoThirds] = [Math.floor(size / 3), Math.floor((2 * size) / 3)];
      const uploadToken = newToken();
      const newUpload = await storage.upload(target, uploadToken);
      await newUpload.closeForRecovery();
      const at = (offset: number) => continueUpload(target, { token: uploadToken, handle: newUpload.handle, offset });
      const first = await at(0);
      await first.write(bytes.subarray(0, third));
      await first.sync();
      await first.write(Buffer.alloc(twoThirds - third, 'lost'));
      await first.closeForRecovery();
      await storage.sweep(async () => [uploadToken]);
      const second = await at(third);
      await second.write(bytes.subarray(third, twoThirds));
      await second.sync();
      await second.closeForRecovery();
      const last = await at(twoThirds);
      await last.write(bytes.subarray(twoThirds));
      await last.sync();
      assert.equal(await storage.stat(parsePath('/a')), null, 'the file is not visible before it is put in place');
      assert.equal(await last.place(), 'a');
      const readBack = await Array.fromAsync(last.readBack(), (piece) => Buffer.from(piece));
      assert.ok(Buffer.concat(readBack).equals(bytes));
      await last.discard();
      const file = await storage.open(parsePath('/a'));
      assert.ok(file && (await readBytes(file)).equals(bytes));
      await file.close();
      await assert.rejects(at(twoThirds), ItemNotFound);
    });

  test(`${name}: a process that has lost an upload and saves late bytes does not destroy what another process has acknowledged`, async (t) => {
    const storage = await open(t);
    const { continueUpload } = storage;
    if (!continueUpload) return assert.equal(continueUpload, null);
    const [size, acknowledged] = [20 << 20, 3 << 20];
    const bytes = Buffer.alloc(size, Buffer.from(Array.from({ length: 251 }, (_, index) => index)));
    const target = { parent: parsePath('/'), name: 'a', size, ifTaken: 'refuse' } as const;
    const uploadToken = newToken();
    const newUpload = await storage.upload(target, uploadToken);
    await newUpload.closeForRecovery();
    const at = (offset: number) => continueUpload(target, { token: uploadToken, handle: newUpload.handle, offset });
    const late = await at(0);
    await late.write(bytes.subarray(0, 1 << 20));
    const other = await at(0);
    await other.write(bytes.subarray(0, acknowledged));
    await other.sync();
    await other.closeForRecovery();
    await late.sync();
    await late.closeForRecovery();
    const last = await at(acknowledged);
    await last.write(bytes.subarray(acknowledged));
    assert.equal(await last.place(), 'a');
    await last.discard();
    const file = await storage.open(parsePath('/a'));
    assert.ok(file && (await readBytes(file)).equals(bytes));
    await file.close();
  });

  test(`${name}: a process that has lost an upload writes no late bytes into the file that another process has completed`, async (t) => {
    const storage = await open(t);
    const { continueUpload } = storage;
    if (!continueUpload) return assert.equal(continueUpload, null);
    const size = 3 << 20;
    const target = { parent: parsePath('/'), name: 'a', size, ifTaken: 'refuse' } as const;
    const uploadToken = newToken();
    const newUpload = await storage.upload(target, uploadToken);
    await newUpload.closeForRecovery();
    const closedUpload = { token: uploadToken, handle: newUpload.handle, offset: 0 };
    let isLost = false;
    const confirm = async () => {
      if (isLost) throw new StoreUnavailable('another process has continued the upload');
    };
    const late = await continueUpload(target, { ...closedUpload, confirm });
    await late.write(Buffer.alloc(1000, 'l'));
    isLost = true;
    const other = await continueUpload(target, closedUpload);
    await other.write(Buffer.alloc(size, 'o'));
    await other.sync();
    assert.equal(await other.place(), 'a');
    const lateWrite = async () => {
      await late.write(Buffer.alloc(size - 1000, 'l'));
      await late.sync();
    };
    await assert.rejects(lateWrite, StoreUnavailable);
    await late.closeForRecovery();
    await other.discard();
    const file = await storage.open(parsePath('/a'));
    assert.ok(file && (await readBytes(file)).equals(Buffer.alloc(size, 'o')));
    await file.close();
  });

  test(`${name}: an upload cannot continue beyond the bytes that have arrived, or after its evidence is cleared`, async (t) => {
    const storage = await open(t);
    const { continueUpload } = storage;
    if (!continueUpload) return assert.equal(continueUpload, null);
    const size = 20 << 20;
    const target = { parent: parsePath('/'), name: 'a', size, ifTaken: 'refuse' } as const;
    const uploadToken = newToken();
    const newUpload = await storage.upload(target, uploadToken);
    await newUpload.closeForRecovery();
    const { handle } = newUpload;
    const at = (offset: number) => continueUpload(target, { token: uploadToken, handle, offset });
    const upload = await at(0);
    await upload.write(Buffer.alloc(size / 4, 'a'));
    await upload.sync();
    await upload.closeForRecovery();
    await assert.rejects(at(size / 2), ItemNotFound);
    await storage.clearEvidence({ action: 'upload', parent: parsePath('/'), name: 'a', newName: '', token: uploadToken, handle });
    await assert.rejects(at(size / 4), ItemNotFound);
  });

  test(`${name}: a range of a file is read exactly, at its beginning, in the middle and at its end`, async (t) => {
    const storage = await open(t);
    const bytes = Buffer.from(Array.from({ length: 3 << 20 }, (_, index) => index % 251));
    await putFile(storage, '/', 'file', bytes);
    const file = await storage.open(parsePath('/file'));
    assert.ok(file);
    const last = bytes.length - 1;
    for (const [start, end] of [
      [0, 0],
      [0, 1 << 20],
      [12_345, 2_345_678],
      [last - 10, last],
      [5, 4],
    ] as const)
      assert.ok((await readBytes(file, { start, end })).equals(bytes.subarray(start, end + 1)), `${start} to ${end}`);
    await file.close();
  });

  test(`${name}: if the storage supports this, several files are read at once with their checksums, and a changed file is refused`, async (t) => {
    const storage = await open(t);
    if (!storage.readRun) return assert.equal(storage.readRun, null);
    const texts = ['first', 'second file', 'third'];
    const files: RunFile[] = [];
    for (const [index, text] of texts.entries()) {
      await putFile(storage, '/', `${index}`, text);
      const path = parsePath(`/${index}`);
      const entry = await storage.stat(path);
      assert.ok(entry);
      files.push({ path, etag: entry.etag, size: entry.size, at: 100 * index });
    }
    const { buffer, checksums } = await storage.readRun(files, new ArrayBuffer(1000));
    assert.deepEqual(
      files.map(({ at, size }) => Buffer.from(buffer, at, size).toString()),
      texts,
    );
    assert.deepEqual(
      checksums,
      texts.map((text) => crc32(text)),
    );
    await putFile(storage, '/', '1', 'another one', files[1]?.etag);
    await assert.rejects(storage.readRun(files, buffer), ItemChanged);
    await removeItem(storage, parsePath('/'), '1');
    await assert.rejects(storage.readRun(files, new ArrayBuffer(1000)), ItemChanged);
  });

  test(`${name}: an empty file is opened and read`, async (t) => {
    const storage = await open(t);
    await putFile(storage, '/', 'empty', '');
    assert.deepEqual([(await storage.stat(parsePath('/empty')))?.size, await readText(storage, '/empty')], [0, '']);
  });

  test(`${name}: an aborted signal ends the read of a file`, async (t) => {
    const storage = await open(t);
    await putFile(storage, '/', 'file', Buffer.alloc(4 << 20));
    const file = await storage.open(parsePath('/file'));
    assert.ok(file);
    const abort = new AbortController();
    const reading = (async () => {
      for await (const _piece of file.read({ start: 0, end: (4 << 20) - 1 }, abort.signal)) abort.abort(new Error('the client has left'));
    })();
    await assert.rejects(reading, /the client has left/);
    await file.close();
  });
}

/** Runs all tests that every storage must pass. */
export function storageContract(name: string, open: OpenStorage): void {
  uploadContract(name, open);
  changeContract(name, open);
  lookupContract(name, open);
  rangeContract(name, open);
}
