import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newShare, startPostern, temporaryFolder } from '../start.ts';
import { localDisk } from './local-disk.ts';
import { createFolder, namesIn, parsePath, putFile, readText, removeItem, renameItem } from './storage.contract.ts';
import { createSwappedFolder } from './swapped-folder.ts';
import { until } from './until.ts';

test('a symbolic link that is swapped in during an operation gives no access to files outside the root', async (t) => {
  const base = await temporaryFolder(t);
  const swappedFolder = createSwappedFolder(base, join(base, 'root'));
  const before = swappedFolder.readOutside();
  const storage = localDisk(t, swappedFolder.root);
  const race = swappedFolder.race();
  const counts = { inside: 0, refused: 0 };
  const count = async (work: Promise<unknown>) =>
    work.then(
      (value) => (counts.inside += value === null ? 0 : 1),
      () => (counts.refused += 1),
    );
  let turn = 0;
  while (race.racing) {
    turn += 1;
    const texts = await Promise.all(
      ['/folder/same', '/folder/sub/deep', '/folder/secret', '/file'].map((where) => readText(storage, where).catch(() => null)),
    );
    const secretTexts = await Promise.all(Array.from({ length: 16 }, () => readText(storage, '/folder/secret').catch(() => null)));
    assert.deepEqual(
      secretTexts.filter((text) => text !== null),
      [],
      'a file outside the root was read',
    );
    assert.ok(!texts.some((text) => text?.includes('OUTSIDE')), 'a file outside the root was read');
    for (const folder of ['/folder', '/folder/sub'])
      assert.ok(!(await namesIn(storage, folder).catch(() => null))?.includes('secret'), 'a folder outside the root was listed');
    assert.equal(await storage.stat(parsePath('/folder/secret')).catch(() => null), null, 'a file outside the root was found');
    await count(putFile(storage, '/folder', `new-${turn}`, 'new'));
    await count(createFolder(storage, parsePath('/folder'), `made-${turn}`));
    await count(renameItem(storage, parsePath('/folder'), `new-${turn}`, `renamed-${turn}`));
    await count(renameItem(storage, parsePath('/folder'), 'secret', 'stolen'));
    await count(removeItem(storage, parsePath('/folder'), 'same'));
    await count(removeItem(storage, parsePath('/folder'), 'sub'));
    await count(removeItem(storage, parsePath('/folder'), 'secret'));
    await count(putFile(storage, '/folder', 'same', 'inside same'));
    const file = await storage.stat(parsePath('/file')).catch(() => null);
    if (file) await count(putFile(storage, '/', 'file', 'inside file', file.etag));
  }
  assert.equal(await race.ended, 0, 'the swapper did not complete all its rounds');
  t.diagnostic(`${turn} rounds: ${counts.inside} inside, ${counts.refused} refused`);
  assert.ok(counts.inside > 0);
  assert.deepEqual(swappedFolder.readOutside(), before);
});

test('deleting a tree while symbolic links are swapped into it deletes nothing outside the root', async (t) => {
  const base = await temporaryFolder(t);
  const swappedFolder = createSwappedFolder(base, join(base, 'root'));
  const before = swappedFolder.readOutside();
  const storage = localDisk(t, swappedFolder.root);
  const race = swappedFolder.raceWithRemoval();
  let removedTrees = 0;
  while (race.racing) {
    for (let sub = 0; sub < 5; sub += 1) {
      mkdirSync(join(swappedFolder.root, `tree/sub/sub/${sub}/sub`), { recursive: true });
      for (const name of ['same', 'secret']) writeFileSync(join(swappedFolder.root, `tree/sub/sub/${sub}/sub/${name}`), 'inside');
    }
    await removeItem(storage, parsePath('/'), 'tree');
    removedTrees += 1;
    await new Promise(setImmediate);
  }
  await race.ended;
  await until(() =>
    storage
      .sweep(async () => [])
      .then(
        () => true,
        () => false,
      ),
  );
  assert.deepEqual(readdirSync(join(swappedFolder.root, '.postern')), []);
  t.diagnostic(`${removedTrees} trees`);
  assert.deepEqual(swappedFolder.readOutside(), before);
});

test('archives, listings and downloads of a share never contain the target of a swapped symbolic link', async (t) => {
  const data = await temporaryFolder(t);
  const postern = await startPostern(t, { data });
  const swappedFolder = createSwappedFolder(await temporaryFolder(t), postern.files);
  const before = swappedFolder.readOutside();
  const { viewId } = await postern.call('share/add', newShare());
  const race = swappedFolder.race();
  let archiveCount = 0;
  while (race.racing) {
    const [zip, list, file] = await Promise.all(
      ['zip', 'list/folder', 'file/folder/same'].map(async (route) => {
        const response = await fetch(`${postern.publicUrl}/s/${viewId}/${route}`).catch(() => null);
        return { status: response?.status ?? 0, text: (await response?.text().catch(() => '')) ?? '' };
      }),
    );
    for (const answer of [zip, list, file]) {
      assert.ok(!/OUTSIDE|secret/.test(answer?.text ?? ''), 'the response contains a file outside the location');
      assert.ok([0, 200, 404].includes(answer?.status ?? -1), `${answer?.status}`);
    }
    if (zip?.status === 200) archiveCount += 1;
    await fetch(`${postern.publicUrl}/s/${viewId}/file/folder/new-${archiveCount}`, { method: 'PUT', body: 'new' });
    await fetch(`${postern.publicUrl}/s/${viewId}/file/folder/secret`, { method: 'DELETE' });
  }
  assert.equal(await race.ended, 0);
  assert.ok(archiveCount > 0);
  assert.deepEqual(swappedFolder.readOutside(), before);
  assert.ok(readdirSync(postern.files).includes('folder'));
});
