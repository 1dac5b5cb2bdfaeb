// Clients that hold a connection and bring or take nothing.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { atEnd } from '../parts/at-end.ts';
import { until } from '../ports/until.ts';
import { adminKey, startPostern, type TestPostern } from '../start.ts';
import { linkTo } from '../visit/visiting.ts';
import { dial, raw, statusOf } from './raw-socket.ts';

const short = { body: 200, stalled: 200 }; // ms
const day = 86_400_000;

async function begin(t: TestContext, postern: TestPostern, line: string, headers: readonly string[] = []) {
  const socket = await dial(postern.apiUrl);
  atEnd(t, () => socket.destroy());
  socket.write([`${line} HTTP/1.1`, `Host: ${new URL(postern.publicUrl).host}`, ...headers, '', ''].join('\r\n'));
  return socket;
}

const outcomes = async (postern: TestPostern, action: string): Promise<string[]> =>
  (await postern.call('audit/search', { action })).list.map(({ outcome }: { outcome: string }) => outcome);

test('a JSON body that does not come is answered 408, and the connection closes', { timeout: 10_000 }, async (t) => {
  const postern = await startPostern(t, { replaced: { patience: { body: 200, stalled: day } } });
  const { base } = await linkTo(postern);
  for (const [line, ...headers] of [['POST /api/v1/share/get', `Authorization: Bearer ${adminKey}`], [`POST ${base}/sign-in`]]) {
    const head = [...headers, 'Content-Type: application/json', 'Content-Length: 100'];
    const answer = await raw(postern.apiUrl, line ?? '', head, '{"id":');
    assert.equal(statusOf(answer), 408);
    assert.match(answer, /bodyTooSlow/);
  }
});

test('an upload that stands still is cut, and nothing of it is kept', { timeout: 10_000 }, async (t) => {
  const postern = await startPostern(t, { replaced: { patience: { body: day, stalled: 200 } } });
  const { base } = await linkTo(postern);
  const socket = await begin(t, postern, `PUT ${base}/file/half.bin`, ['Content-Length: 1000']);
  socket.write('half');
  await once(socket, 'close');
  await until(async () => (await outcomes(postern, 'upload'))[0] === 'failed');
  assert.ok(!(await readdir(postern.files)).includes('half.bin'));
});

test('a download that nobody takes is cut, and told as broken off', { timeout: 10_000 }, async (t) => {
  const postern = await startPostern(t, { replaced: { patience: { body: day, stalled: 200 } } });
  const { base } = await linkTo(postern);
  const file = await open(join(postern.files, 'large.bin'), 'w');
  await file.truncate(2 ** 30);
  await file.close();
  await begin(t, postern, `GET ${base}/file/large.bin`); // and never reads
  await until(async () => (await outcomes(postern, 'download'))[0] === 'failed');
});

test('a connection lives on after a transfer that moved', { timeout: 10_000 }, async (t) => {
  const postern = await startPostern(t, { replaced: { patience: short } });
  const { base } = await linkTo(postern);
  const socket = await begin(t, postern, `PUT ${base}/file/a.txt`, ['Content-Length: 1']);
  let answers = '';
  socket.on('data', (chunk) => {
    answers += chunk.toString('latin1');
  });
  socket.write('x');
  await until(() => answers.includes(' 201 '));
  socket.write(`GET ${base}/file/a.txt HTTP/1.1\r\nHost: ${new URL(postern.publicUrl).host}\r\n\r\n`);
  await until(() => answers.includes(' 200 '));
  const later = await begin(t, postern, `PUT ${base}/file/half.bin`, ['Content-Length: 1000']);
  await once(later, 'close'); // longer than the first may stand still
  assert.equal(socket.closed, false);
});
