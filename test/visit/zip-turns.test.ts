import assert from 'node:assert/strict';
import { mkdir, truncate, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { startWithStorages } from '../parts/intercepted-postern.ts';
import { logLines } from '../parts/log-lines.ts';
import type { TestPostern } from '../start.ts';
import { createShare, sendPath } from './visiting.ts';

const fileCount = 1000;
const slice = 64 << 20; // bytes that one turn reads for a checksum

/** Sends a HEAD request for an archive and disconnects once `preparationStart` resolves. */
async function requestAndDisconnect(postern: TestPostern, path: string, preparationStart: Promise<unknown>): Promise<void> {
  const clientRequest = request(new URL(path, postern.publicUrl), { method: 'HEAD', agent: false }).on('error', () => {});
  clientRequest.end();
  await preparationStart;
  const closeEvent = new Promise((resolve) => clientRequest.once('close', resolve));
  clientRequest.destroy();
  await closeEvent;
}

for (const { title, method, query, over } of [
  { title: 'of files that may have to be signed', method: 'storage.open', query: '', over: { digitalSignature: true } },
  {
    title: 'of many chosen files',
    method: 'storage.stat',
    query: `?${Array.from({ length: fileCount }, (_, number) => `name=${number}`).join('&')}`,
    over: {},
  },
])
  test(`an archive ${title} is not prepared further after its visitor has disconnected`, async (t) => {
    let [calls, isReleased] = [0, false];
    const preparationStart = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const { log, errors } = logLines();
    const hold = (name: string) => {
      if (name !== method) return undefined;
      calls += 1;
      if (calls >= 4) preparationStart.resolve();
      return isReleased || calls < 4 ? undefined : gate.promise;
    };
    const postern = await startWithStorages(t, hold, { replacements: { log } });
    await mkdir(join(postern.files, 'box'));
    for (let number = 0; number < fileCount; number += 1) await writeFile(join(postern.files, `box/${number}`), 'text');
    await writeFile(join(postern.files, 'one'), 'text');
    const { base } = await createShare(postern, { path: '/box', ...over });
    const next = await createShare(postern);
    calls = 0;
    // Only one slice of a wide network is read at a location at a time, so the next archive waits for the slice that the gate holds.
    await Promise.all([
      requestAndDisconnect(postern, `${base}/zip${query}`, preparationStart.promise),
      requestAndDisconnect(postern, `${base}/zip${query}`, preparationStart.promise),
    ]);
    const answer = sendPath(postern, `${next.base}/zip?name=one`);
    isReleased = true;
    gate.resolve();
    assert.equal((await answer).status, 200);
    assert.ok(calls < 20, `${calls} files were opened or looked up`);
    assert.deepEqual(errors(), [], 'no error is logged');
  });

test('the last bytes of an archive do not wait until the large files of other archives have been read completely', async (t) => {
  const gate = Promise.withResolvers<void>();
  const postern = await startWithStorages(t, (method, [, position]) =>
    method === 'file.read' && Number(position) >= slice ? gate.promise : undefined,
  );
  for (const [name, size] of [
    ['huge', 2 * slice],
    ['vast', 2 * slice],
    ['large', 2 << 20],
  ] as const) {
    await writeFile(join(postern.files, name), '');
    await truncate(join(postern.files, name), size);
  }
  const { base } = await createShare(postern);
  const bytes = 80; // most of the central directory and its end record, which have 81 bytes or more
  const endOf = (name: string) => sendPath(postern, `${base}/zip?name=${name}`, { headers: { range: `bytes=-${bytes}` } });
  const others = ['huge', 'vast', 'huge'].map(endOf);
  assert.equal((await endOf('large')).bytes.length, bytes);
  gate.resolve();
  for (const other of others) assert.equal((await other).bytes.length, bytes);
});
