import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atEnd } from '../parts/at-end.ts';
import { until } from '../ports/until.ts';
import { startPostern } from '../start.ts';
import { createShare } from '../visit/visiting.ts';
import { tusClient } from './tus.ts';

const maxUploadsOfNetwork = 64;

test('a client with 64 running uploads, the maximum of one network, can continue one of them while the earlier connections of all 64 are open and silent', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  const tus = tusClient(postern, base);
  const addresses: string[] = [];
  for (let index = 0; index < maxUploadsOfNetwork; index += 1) addresses.push(await tus.begin(`f${index}`, 6));
  for (const address of addresses) atEnd(t, tus.sendBeginning(address, 0, Buffer.from('abc'), 6)); // Postern would wait for open uploads
  const { store } = postern.ports;
  const holders = () => store.read.selectFrom('resumable_upload').select('holder').where('holder', 'is not', null).execute();
  await until(async () => (await holders()).length === maxUploadsOfNetwork);
  let last = await tus.patch(addresses[0] ?? '', 0, 'abcdef');
  while (last.status === 423) last = await tus.patch(addresses[0] ?? '', 0, 'abcdef');
  assert.equal(last.status, 204);
});
