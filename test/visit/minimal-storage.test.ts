import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { type TestContext, test } from 'node:test';
import { ItemExists } from '#ports/storage-errors.ts';
import { MinimalStorage } from '../ports/minimal-storage.ts';
import { until } from '../ports/until.ts';
import { startPostern } from '../start.ts';
import { checkFileActions } from './file-actions.ts';
import { createShare, noPermissions } from './visiting.ts';

/** Starts Postern with a location in a storage that gives only the guarantees that every storage must give. */
async function startOnMinimalStorage(t: TestContext, storage = new MinimalStorage()) {
  const storages = { open: async () => storage, configurationError: async () => null };
  const postern = await startPostern(t, { replacements: { ports: { storages } } });
  return { postern, ...(await createShare(postern)) };
}

test('in a storage with few guarantees, visitors can list, upload, download, archive, rename and delete', async (t) => {
  const { postern } = await startOnMinimalStorage(t);
  await checkFileActions(postern);
});

test('a listing frees the memory of its entries', async (t) => {
  let endCount = 0;
  class StorageWithBudget extends MinimalStorage {
    override async page(...parameters: Parameters<MinimalStorage['page']>) {
      const page = await super.page(...parameters);
      const end = () => {
        endCount += 1;
      };
      return page && { ...page, memory: { [Symbol.dispose]: end } };
    }
  }
  const { postern, base } = await startOnMinimalStorage(t, new StorageWithBudget());
  assert.equal((await postern.visit(`${base}/list`)).status, 200);
  assert.equal(endCount, 1);
});

test('of several simultaneous uploads with the same name to a storage without atomic creation, exactly one succeeds', async (t) => {
  const { postern, base } = await startOnMinimalStorage(t);
  const texts = Array.from({ length: 8 }, (_, index) => `text ${index}`);
  const answers = await Promise.all(texts.map((body) => postern.visit(`${base}/file/one`, { method: 'PUT', body })));
  const winner = answers.findIndex(({ status }) => status === 201);
  assert.deepEqual(
    answers.map(({ status }) => status),
    texts.map((_, index) => (index === winner ? 201 : 409)),
  );
  assert.equal((await postern.visit(`${base}/file/one`)).body, texts[winner]);
});

test('the handle that recovery needs for an upload is recorded before its first byte is written', async (t) => {
  const { postern, base } = await startOnMinimalStorage(t);
  const handles = async () =>
    (await postern.ports.store.read.selectFrom('unsettled').select('handle').execute()).map(({ handle }) => handle);
  const sending = request(`${postern.publicUrl}${base}/file/slow`, { method: 'PUT', headers: { 'content-length': 10 } });
  sending.flushHeaders();
  await until(async () => (await handles()).some((handle) => handle?.startsWith('upload ')));
  sending.end('0123456789');
  const [response] = await once(sending, 'response');
  assert.equal(response.statusCode, 201);
  response.resume();
  assert.deepEqual(await handles(), []);
});

test('while an upload to a drop box waits for its next name, a folder above can be renamed', async (t) => {
  const [firstNameTaken, renamed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  class TakenName extends MinimalStorage {
    override async upload(...parameters: Parameters<MinimalStorage['upload']>) {
      const upload = await super.upload(...parameters);
      const place: typeof upload.place = async (_confirm, lockName) => {
        await lockName?.('file', async () => false);
        firstNameTaken.resolve();
        await renamed.promise;
        throw new ItemExists('all names are taken');
      };
      return { ...upload, place };
    }
  }
  const { postern, base } = await startOnMinimalStorage(t, new TakenName());
  const json = { headers: { 'content-type': 'application/json' } };
  for (const folder of ['above', 'above/box'])
    assert.equal((await postern.visit(`${base}/folder/${folder}`, { method: 'POST' })).status, 201);
  const box = await createShare(postern, { ...noPermissions, canUpload: true, path: '/above/box' });
  const upload = postern.visit(`${box.base}/file/file`, { method: 'PUT', body: 'text' });
  await firstNameTaken.promise;
  const body = JSON.stringify({ path: '/above', name: 'other' });
  assert.equal((await postern.visit(`${base}/rename`, { method: 'POST', body, ...json })).status, 200);
  renamed.resolve();
  await upload;
});
