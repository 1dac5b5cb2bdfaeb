// Postern runs in its own process here: a server that hangs on a refused upload must not block other tests.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sendRequest, statusOf } from '../hostile/raw-socket.ts';
import { atEnd } from '../parts/at-end.ts';
import { mountSmallDisk } from '../ports/small-disk.ts';
import { newShare, temporaryFolder } from '../start.ts';
import { type RunningPostern, runPostern } from './run-postern.ts';

const megabyte = 1 << 20;
const large = 'x'.repeat(8 * megabyte);

async function upload(t: TestContext, { publicUrl }: RunningPostern, viewId: string, chunked: boolean): Promise<number> {
  const headers = [chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${large.length}`];
  const body = chunked ? `${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n` : large;
  return statusOf(await sendRequest(publicUrl, `PUT /s/${viewId}/file/large`, headers, body, t.signal));
}

for (const chunked of [false, true]) {
  const kind = chunked ? 'of unknown length' : 'of known length';

  test(`an upload ${kind} that is larger than the limit gets 413 and leaves no file`, { timeout: 10_000 }, async (t) => {
    const data = await temporaryFolder(t);
    const postern = await runPostern(t, { POSTERN_DATA: data, POSTERN_MAX_FILE_SIZE: String(4 * megabyte) });
    const { viewId } = (await postern.send('share/add', newShare())).body;
    assert.equal(await upload(t, postern, viewId, chunked), 413);
    assert.ok(!readdirSync(join(data, 'files'), { recursive: true, encoding: 'utf8' }).includes('large'));
  });

  test(`an upload ${kind} that does not fit on the disk gets 507 and leaves no file, and small uploads work`, {
    timeout: 10_000,
  }, async (t) => {
    const disk = mountSmallDisk(t, 'size=4m');
    if (!disk) return;
    const postern = await runPostern(t, { POSTERN_DATA: await temporaryFolder(t), POSTERN_LOCAL_ROOTS: `1:${disk}` });
    await postern.send('location/add', { name: 'small', kind: 'local', configuration: JSON.stringify({ folder: disk }) });
    const { viewId } = (await postern.send('share/add', newShare({ location: 'small' }))).body;
    assert.equal(await upload(t, postern, viewId, chunked), 507);
    assert.deepEqual(readdirSync(disk, { recursive: true }), ['.postern']);
    assert.equal((await fetch(`${postern.publicUrl}/s/${viewId}/file/small`, { method: 'PUT', body: 'x' })).status, 201);
    // A file of known length that does not fit is refused before its first byte arrives, and its pending audit entry is deleted.
    assert.equal((await postern.send('audit/search', { outcome: 'failed' })).body.totalCount, chunked ? 1 : 0);
  });
}

test('a client that sends Connection: close can send the rest of a refused body after the response', {
  timeout: 10_000,
}, async (t) => {
  const postern = await runPostern(t, { POSTERN_DATA: await temporaryFolder(t), POSTERN_MAX_FILE_SIZE: '10' });
  const { viewId } = (await postern.send('share/add', newShare())).body;
  const { host, port, hostname } = new URL(postern.publicUrl);
  const socket = connect(Number(port), hostname);
  atEnd(t, () => socket.destroy());
  socket.write(`PUT /s/${viewId}/file/large HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 20\r\nConnection: close\r\n\r\nfirst half`);
  assert.match(String(await once(socket, 'data')), /^HTTP\/1.1 413 /);
  let hasEnded = false;
  socket.once('end', () => {
    hasEnded = true;
  });
  for (let count = 0; count < 5; count += 1) await fetch(`${postern.publicUrl}/health/live`);
  assert.equal(hasEnded, false);
  socket.write('second hal');
  await once(socket, 'end');
});
