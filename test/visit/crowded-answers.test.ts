import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { startWithHeld } from '../parts/intercepted-postern.ts';
import { until } from '../ports/until.ts';
import { startPostern } from '../start.ts';
import { linkTo } from './visiting.ts';

test('the requests of one connection are begun one after the other, each when the answer before it has gone', {
  timeout: 20_000,
}, async (t) => {
  const { postern, calls: opened, release } = await startWithHeld(t, 'storage.page');
  const { base } = await linkTo(postern);
  const { hostname, port } = new URL(postern.publicUrl);
  const socket = connect(Number(port), hostname);
  t.after(() => socket.destroy());
  let answers = '';
  socket.setEncoding('latin1').on('data', (text) => {
    answers += text;
  });
  const request = (index: number) => `GET ${base}/list?startIndex=${index} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`;
  socket.write(Array.from({ length: 8 }, (_, index) => request(index)).join(''));
  await until(() => opened() > 0);
  assert.equal((await postern.visit(`${base}/visit`)).status, 200);
  assert.equal(opened(), 1);
  release();
  await until(() => answers.split('HTTP/1.1 200').length === 9);
  assert.equal(opened(), 8);
});

test('choosing the same files of a folder in another order is the same download, and its audit entry stays short', async (t) => {
  const postern = await startPostern(t);
  const { base, id } = await linkTo(postern);
  await mkdir(join(postern.files, 'many'), { recursive: true });
  const names = Array.from({ length: 40 }, (_, index) => `${'n'.repeat(100)}-${index}`);
  for (const name of names) await writeFile(join(postern.files, 'many', name), 'a text');
  const take = (chosen: readonly string[]) => postern.visit(`${base}/zip/many?${chosen.map((name) => `name=${name}`).join('&')}`);
  const tags = new Set<string | null>();
  for (const chosen of [names, names.toReversed(), [...names, ...names]]) tags.add((await take(chosen)).headers.get('etag'));
  assert.equal(tags.size, 1);
  await until(async () => (await postern.call('audit/search', { shareId: id, action: 'downloadFolder' })).totalCount === 1);
  const { list } = await postern.call('audit/search', { shareId: id, action: 'downloadFolder' });
  assert.ok(JSON.stringify(list[0]).length < 3000);
  assert.equal(JSON.parse(list[0].after).count, 40);
});

test('one visitor has few archives planned at a time; the others wait, and a stranger is served between them', {
  timeout: 30_000,
}, async (t) => {
  const { postern, calls: listed, release } = await startWithHeld(t, 'storage.list');
  const { base } = await linkTo(postern);
  const answers = Array.from({ length: 30 }, () => fetch(`${postern.publicUrl}${base}/zip`, { method: 'HEAD' }));
  const refused: number[] = [];
  for (const answer of answers) void answer.then(({ status }) => status === 503 && refused.push(status));
  await until(() => refused.length === 12); // 2 are planned and 16 wait
  assert.equal(listed(), 2);
  assert.equal((await postern.visit(`${base}/list`)).status, 200);
  release();
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 200).length, 18);
});
