import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createMountFolder, mountAt } from '../ports/small-disk.ts';
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

test('changes in a folder that Postern may not write are refused at once, and do not stop changes elsewhere', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('not root');
  const data = await temporaryFolder(t);
  const files = join(data, 'files');
  mkdirSync(join(files, 'closed'), { recursive: true });
  for (const folder of [data, files]) chownSync(folder, nobody, nobody);
  writeFileSync(join(files, 'closed/a.txt'), 'a text');
  const asNobody = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', '--inh-caps=-all'];
  const postern = await runPostern(t, { POSTERN_DATA: data }, asNobody);
  const viewIdOf = async (path: string) => (await postern.send('share/add', newShare({ path }))).body.viewId;
  const [closed, open] = [await viewIdOf('/closed'), await viewIdOf('/')];
  const send: Send = async (path, init) => (await fetch(`${postern.publicUrl}/s/${closed}${path}`, init)).status;
  assert.deepEqual(await changeEverything(send), allImpossible);
  await uploadMany(send);
  assert.equal((await fetch(`${postern.publicUrl}/s/${open}/file/new.txt`, { method: 'PUT', body: 'text' })).status, 201);
});
