import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { atEnd } from '../parts/at-end.ts';
import { bindMountAt, createMountFolder, mountAt, unmount } from '../ports/small-disk.ts';
import { runPostern } from '../process/run-postern.ts';
import { newShare, startPostern, temporaryFolder } from '../start.ts';
import { createShare, jsonPostRequest } from './visiting.ts';

const nobody = 65_534;
/** More changes than may be pending at a location. */
const manyChanges = 250;
const atOnce = 10;

type Send = (path: string, init: RequestInit) => Promise<number>;

/** Sends one change of each kind to a folder that contains `a.txt`. @returns the statuses of the responses by action */
async function changeEverything(send: Send): Promise<Record<string, number>> {
  return {
    'small upload': await send('/file/b.txt', { method: 'PUT', body: 'text' }),
    upload: await send('/file/c.txt', { method: 'PUT', body: Buffer.alloc(200_000) }),
    replacement: await send('/file/a.txt', { method: 'PUT', body: 'text', headers: { 'if-match': '*' } }),
    'new folder': await send('/folder/d', { method: 'POST' }),
    rename: await send('/rename', jsonPostRequest({ path: 'a.txt', name: 'e.txt' })),
    deletion: await send('/file/a.txt', { method: 'DELETE' }),
  };
}

const allImpossible = { 'small upload': 409, upload: 409, replacement: 409, 'new folder': 409, rename: 409, deletion: 409 };

async function uploadMany(send: Send): Promise<void> {
  for (let number = 0; number < manyChanges; number += atOnce) {
    const uploads = Array.from({ length: atOnce }, (_, index) => send(`/file/${number + index}.txt`, { method: 'PUT', body: 'text' }));
    assert.deepEqual(await Promise.all(uploads), Array(atOnce).fill(409));
  }
}

test('changes in a read-only file system below a location are refused at once, leave nothing, and do not stop changes elsewhere', async (t) => {
  const folder = createMountFolder(t);
  const location = join(folder, 'files');
  const disk = join(location, 'disk');
  if (!mountAt(t, disk, 'size=8m')) return;
  writeFileSync(join(disk, 'a.txt'), 'a text');
  execFileSync('mount', ['-o', 'remount,ro', disk]);
  const postern = await startPostern(t, { environment: { POSTERN_LOCAL_ROOTS: `1:${folder}` } });
  await postern.call('location/add', { name: 'files', kind: 'local', configuration: JSON.stringify({ folder: location }) });
  const [{ base }, other] = [
    await createShare(postern, { location: 'files', path: '/disk' }),
    await createShare(postern, { location: 'files' }),
  ];
  const send: Send = async (path, init) => (await postern.visit(base + path, init)).status;
  assert.deepEqual(await changeEverything(send), allImpossible);
  await uploadMany(send);
  assert.equal((await postern.visit(`${other.base}/file/new.txt`, { method: 'PUT', body: 'text' })).status, 201);
  assert.deepEqual(readdirSync(disk), ['a.txt']);
  assert.deepEqual(
    readdirSync(join(location, '.postern')).filter((name) => name.endsWith('-mount')),
    [],
  );
  const { list } = await postern.call('audit/search', { outcome: 'begun' });
  assert.deepEqual(list, [], 'no change is pending');
});

/** Starts a process as a user who is not root. Its folder `files` contains the folder `x`, which root owns and `prepare` fills. */
async function runAsNobody(t: TestContext, prepare: (folder: string) => void) {
  const data = await temporaryFolder(t);
  const files = join(data, 'files');
  const folder = join(files, 'x');
  mkdirSync(folder, { recursive: true });
  for (const owned of [data, files]) chownSync(owned, nobody, nobody);
  prepare(folder);
  const asNobody = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', '--inh-caps=-all'];
  const postern = await runPostern(t, { POSTERN_DATA: data }, asNobody);
  const sendTo = async (path: string): Promise<Send> => {
    const { viewId } = (await postern.send('share/add', newShare({ path }))).body;
    return async (target, init) => (await fetch(`${postern.publicUrl}/s/${viewId}${target}`, init)).status;
  };
  const pendingCount = async () => (await postern.send('audit/search', { outcome: 'begun' })).body.list.length;
  return { folder, sendTo, pendingCount, postern };
}

const isRoot = process.getuid?.() === 0;

test('changes in a folder that Postern may not write are refused at once, and do not stop changes elsewhere', async (t) => {
  if (!isRoot) return t.skip('not root');
  const { sendTo, pendingCount } = await runAsNobody(t, (folder) => writeFileSync(join(folder, 'a.txt'), 'a text'));
  const [closed, open] = [await sendTo('/x'), await sendTo('/')];
  assert.deepEqual(await changeEverything(closed), allImpossible);
  await uploadMany(closed);
  assert.equal(await open('/file/new.txt', { method: 'PUT', body: 'text' }), 201);
  assert.equal(await pendingCount(), 0);
});

test('changes in a folder that Postern may enter but not list are refused at once', async (t) => {
  if (!isRoot) return t.skip('not root');
  const { sendTo, pendingCount } = await runAsNobody(t, (folder) => {
    writeFileSync(join(folder, 'a.txt'), 'a text');
    chmodSync(folder, 0o711);
  });
  const send = await sendTo('/');
  for (const [path, init] of [
    ['/folder/x/d', { method: 'POST' }],
    ['/rename', jsonPostRequest({ path: 'x/a.txt', name: 'e.txt' })],
    ['/file/x/a.txt', { method: 'DELETE' }],
  ] as const)
    assert.equal(await send(path, init), 409, path);
  assert.equal(await pendingCount(), 0);
});

test('a file whose old name Postern may not remove is not renamed, and the change does not stay pending', async (t) => {
  if (!isRoot) return t.skip('not root');
  const { sendTo, pendingCount } = await runAsNobody(t, (folder) => {
    writeFileSync(join(folder, 'a.txt'), 'a text');
    chmodSync(join(folder, 'a.txt'), 0o666);
    chmodSync(folder, 0o1777); // in a sticky folder, only the owner of a file or of the folder may remove a name of the file
  });
  const send = await sendTo('/x');
  assert.equal(await send('/rename', jsonPostRequest({ path: 'a.txt', name: 'b.txt' })), 409);
  assert.equal(await pendingCount(), 0);
});

test('a folder on another mount counts as deleted, for visitors and in the audit log, even if Postern may not empty it', async (t) => {
  if (!isRoot) return t.skip('not root');
  const folder = createMountFolder(t);
  const disk = join(folder, 'disk');
  if (!mountAt(t, disk, 'size=8m,mode=777')) return;
  for (const name of ['b', 'b/a', 'b/c', 'b/d']) mkdirSync(join(disk, name));
  for (const name of ['b', 'b/a', 'b/d']) chmodSync(join(disk, name), 0o777);
  for (const name of ['b/a/own.txt', 'b/c/others.txt', 'b/d/own.txt', 'b/own.txt']) writeFileSync(join(disk, name), 'a text');
  const { sendTo, pendingCount, folder: target } = await runAsNobody(t, () => {});
  if (!bindMountAt(t, target, disk)) return;
  atEnd(t, () => unmount(target));
  const send = await sendTo('/x');
  assert.equal(await send('/file/b', { method: 'DELETE' }), 204);
  assert.equal(await send('/list/b', {}), 404);
  const left = readdirSync(disk, { recursive: true }).map(String);
  assert.ok(left.some((name) => name.endsWith('others.txt')) && !left.some((name) => name.endsWith('own.txt')), left.join());
  assert.equal(await pendingCount(), 0);
});
