import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { type TestContext, test } from 'node:test';
import { PoorStorage } from '../ports/poor-storage.ts';
import { until } from '../ports/until.ts';
import { startPostern } from '../start.ts';
import { linkTo } from './visiting.ts';

/** Starts Postern with a location on a service that promises as little as a storage may. */
async function startOnPoorStorage(t: TestContext) {
  const storage = new PoorStorage();
  const storages = { open: async () => storage, configurationError: async () => null };
  const postern = await startPostern(t, { replaced: { ports: { storages } } });
  return { postern, ...(await linkTo(postern)) };
}

const posting = (body: object) => ({ method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });

test('at a storage that promises little, visitors list, upload, download, archive, rename and delete', async (t) => {
  const { postern, base } = await startOnPoorStorage(t);
  const text = 'a text that needs several pieces'.repeat(100);
  assert.equal((await postern.visit(`${base}/folder/box`, { method: 'POST' })).status, 201);
  assert.equal((await postern.visit(`${base}/file/box/doc.txt`, { method: 'PUT', body: text })).status, 201);
  const { body, headers } = await postern.visit(`${base}/file/box/doc.txt`);
  assert.equal(body, text);
  const range = await postern.visit(`${base}/file/box/doc.txt`, { headers: { range: 'bytes=1000-2999' } });
  assert.deepEqual([range.status, range.body], [206, text.slice(1000, 3000)]);
  const replacement = { method: 'PUT', body: 'new', headers: { 'if-match': String(headers.get('etag')) } };
  assert.equal((await postern.visit(`${base}/file/box/doc.txt`, replacement)).status, 201);
  assert.equal((await postern.visit(`${base}/file/box/doc.txt`, replacement)).status, 412);
  assert.equal((await postern.visit(`${base}/zip`)).status, 200);
  assert.equal((await postern.visit(`${base}/rename`, posting({ path: 'box', name: 'moved' }))).status, 200);
  const { entries } = (await postern.visit(`${base}/list/moved`)).body;
  assert.deepEqual(
    entries.map(({ name, size }: { name: string; size: number }) => [name, size]),
    [['doc.txt', 3]],
  );
  assert.equal((await postern.visit(`${base}/file/moved`, { method: 'DELETE' })).status, 204);
  assert.deepEqual((await postern.visit(`${base}/list`)).body.entries, []);
});

test('of several uploads of one name to a storage that looks first and acts then, one succeeds', async (t) => {
  const { postern, base } = await startOnPoorStorage(t);
  const texts = Array.from({ length: 8 }, (_, index) => `text ${index}`);
  const answers = await Promise.all(texts.map((body) => postern.visit(`${base}/file/one`, { method: 'PUT', body })));
  const winner = answers.findIndex(({ status }) => status === 201);
  assert.deepEqual(
    answers.map(({ status }) => status),
    texts.map((_, index) => (index === winner ? 201 : 409)),
  );
  assert.equal((await postern.visit(`${base}/file/one`)).body, texts[winner]);
});

test('what recovery needs of an upload is recorded before its first byte is written', async (t) => {
  const { postern, base } = await startOnPoorStorage(t);
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
