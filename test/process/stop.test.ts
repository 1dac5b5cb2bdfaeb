import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { atEnd } from '../parts/at-end.ts';
import { newShare, temporaryFolder } from '../start.ts';
import { runPostern } from './run-postern.ts';

const large = 48 << 20; // more than the buffers of a loopback connection

test('after SIGTERM no connection is accepted, running transfers finish, and the exit code is 0', async (t) => {
  const data = await temporaryFolder(t);
  mkdirSync(join(data, 'files'));
  writeFileSync(join(data, 'files/large'), Buffer.alloc(large, 7));
  const postern = await runPostern(t, { POSTERN_DATA: data });
  const { viewId } = (await postern.send('share/add', newShare())).body;
  const link = `${postern.publicUrl}/s/${viewId}`;

  const download = request(`${link}/file/large`);
  download.end();
  const [incoming] = await once(download, 'response');
  const upload = request(`${link}/file/sent`, { method: 'PUT', headers: { expect: '100-continue' } });
  upload.flushHeaders();
  await once(upload, 'continue');
  upload.write(Buffer.alloc(100_000, 1));

  postern.child.kill('SIGTERM');
  await postern.waitForOutput(/Postern is stopping/);
  for (let isRefused = false; !isRefused; ) {
    const socket = connect(Number(new URL(link).port), '127.0.0.1');
    isRefused = await once(socket, 'connect').then(
      () => false,
      () => true,
    );
    socket.destroy();
  }
  let receivedBytes = 0;
  incoming.on('data', (chunk: Buffer) => {
    receivedBytes += chunk.length;
  });
  upload.end(Buffer.alloc(100_000, 1));
  const [answer] = await once(upload, 'response');
  assert.equal(answer.statusCode, 201);
  answer.resume();
  await once(incoming, 'end');
  assert.equal(receivedBytes, large);
  assert.deepEqual(await postern.ended, { code: 0, signal: null });
  assert.ok(existsSync(join(data, 'files/sent')));
  assert.deepEqual(readdirSync(join(data, 'files/.postern')), []);
});

test('a client that never completes its request does not prevent the stop after SIGTERM', { timeout: 33_000 }, async (t) => {
  const postern = await runPostern(t, { POSTERN_DATA: await temporaryFolder(t) });
  const { port } = new URL(postern.publicUrl);
  const head = `POST /api/v1/share/add HTTP/1.1\r\nHost: localhost:${port}\r\nAuthorization: Bearer pst_test-key-of-an-admin\r\nContent-Type: application/json\r\n`;
  const sockets = [`${head}Content-Length: 1000\r\n\r\n{`, head].map((text) => {
    const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
    socket.write(text);
    return socket;
  });
  atEnd(t, () => {
    for (const socket of sockets) socket.destroy();
  });
  await postern.send('share/search'); // after this response, both requests have arrived
  postern.child.kill('SIGTERM');
  assert.deepEqual(await postern.ended, { code: 0, signal: null });
});

test('Postern keeps running after the reader of its output has closed the pipe, and exits with 0', async (t) => {
  const postern = await runPostern(t, { POSTERN_DATA: await temporaryFolder(t) });
  postern.child.stdout?.destroy();
  postern.child.stderr?.destroy();
  assert.equal((await postern.send('share/add', newShare())).status, 200);
  postern.child.kill('SIGTERM');
  assert.deepEqual(await postern.ended, { code: 0, signal: null });
});

test('without an access log, SIGHUP does not stop Postern', async (t) => {
  const postern = await runPostern(t, { POSTERN_DATA: await temporaryFolder(t) });
  postern.child.kill('SIGHUP');
  assert.equal((await postern.send('share/add', newShare())).status, 200);
  postern.child.kill('SIGTERM');
  assert.deepEqual(await postern.ended, { code: 0, signal: null });
});
