// Tests of a `.postern` folder that belongs to a different user than the one that runs Postern.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { StorageUnusable } from '#ports/storage-errors.ts';
import { temporaryFolder } from '../start.ts';
import { localDisk } from './local-disk.ts';
import { createFolder, newToken, parsePath, putFile, removeItem } from './storage.contract.ts';
import { until } from './until.ts';

const nobody = 65_534;

/** Runs `work` as another user, who may also write in the folder of the location. */
async function asNobody(work: () => Promise<void>): Promise<void> {
  process.seteuid?.(nobody);
  try {
    await work();
  } finally {
    process.seteuid?.(0);
  }
}

/** Creates the folder of a location, with a `.postern` that belongs to root. @returns null if the test does not run as root */
async function createSharedFolder(t: TestContext) {
  if (process.getuid?.() !== 0) {
    t.skip('root is needed');
    return null;
  }
  const root = await temporaryFolder(t);
  chmodSync(root, 0o777);
  const storage = localDisk(t, root);
  await putFile(storage, '/', 'there', 'text');
  return { root, storage };
}

test('if the staging area belongs to another user, new folders, uploads, deletions and sweeps are refused, and leave no file', async (t) => {
  const setup = await createSharedFolder(t);
  if (!setup) return;
  const { root, storage } = setup;
  await asNobody(async () => {
    await assert.rejects(createFolder(storage, parsePath('/'), 'folder'), StorageUnusable);
    await assert.rejects(putFile(storage, '/', 'new', 'text'), StorageUnusable);
    await assert.rejects(removeItem(storage, parsePath('/'), 'there'), StorageUnusable);
    await assert.rejects(
      storage.sweep(async () => []),
      StorageUnusable,
    );
  });
  assert.deepEqual(readdirSync(root).sort(), ['.postern', 'there']);
});

test('recovery fails while the staging area belongs to another user, and succeeds afterwards', async (t) => {
  const setup = await createSharedFolder(t);
  if (!setup) return;
  const { root, storage } = setup;
  const interruptedChange = { action: 'createFolder', parent: parsePath('/'), name: 'made', newName: '', token: newToken() } as const;
  await storage.createFolder(parsePath('/'), 'made', { token: interruptedChange.token, pendingTokens: [] });
  await asNobody(() => assert.rejects(storage.recover(interruptedChange), StorageUnusable));
  assert.equal(await storage.recover(interruptedChange), 'made');
  await storage.clearEvidence(interruptedChange);
  assert.ok(existsSync(join(root, 'made')));
  await until(() => readdirSync(join(root, '.postern')).length === 0); // the marks of small uploads are deleted a moment later
});
