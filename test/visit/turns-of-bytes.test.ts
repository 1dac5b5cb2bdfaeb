import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lane } from '../../src/adapters/storage/disk/thread-lane.ts';
import { startPostern } from '../start.ts';
import { createShare } from './visiting.ts';

const size = 600 * 1024; // bytes; too large to be read completely when the file is opened
const client = '203.0.113.7';
const commandsForClients = [
  ...['createFolder', 'rename', 'remove', 'placeUpload'],
  ...['read', 'close', 'openUpload', 'writeUpload', 'syncUpload', 'storeSmallUpload', 'syncFolder', 'discardUpload', 'closeUpload'],
];

test('every read, write, sync and change of a disk for a visitor takes a turn of the network of the visitor', async (t) => {
  const postern = await startPostern(t, { environment: { POSTERN_TRUSTED_PROXIES: '127.0.0.1' } });
  const { base } = await createShare(postern);
  const run = t.mock.method(Lane.prototype, 'run');
  const request = async (path: string, init: RequestInit = {}) => {
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': client, ...init.headers };
    const response = await fetch(`${postern.publicUrl}${base}/${path}`, { ...init, headers });
    await response.arrayBuffer();
    assert.ok(response.ok, `${path} answered ${response.status}`);
    return response.headers.get('etag') ?? '';
  };
  const post = (path: string, body: object) => request(path, { method: 'POST', body: JSON.stringify(body) });
  await request('file/a.bin', { method: 'PUT', body: Buffer.alloc(size) });
  await request('file/small.bin', { method: 'PUT', body: Buffer.alloc(1) });
  const etag = await request('file/a.bin');
  await request('file/a.bin', { method: 'PUT', body: Buffer.alloc(size + 1), headers: { 'if-match': etag } });
  await request('file/a.bin', { headers: { range: 'bytes=5-300000' } });
  await request('zip/');
  await request('folder/new', { method: 'POST' });
  await post('rename', { path: 'a.bin', name: 'b.bin' });
  await request('file/b.bin', { method: 'DELETE' });
  const calls = run.mock.calls.map(({ arguments: [command, , options] }) => ({ command, client: options?.client }));
  const forClients = calls.filter(({ command }) => commandsForClients.includes(command));
  assert.deepEqual(
    forClients.filter((call) => call.client !== client),
    [],
  );
  assert.deepEqual(new Set(forClients.map(({ command }) => command)), new Set(commandsForClients.filter((name) => name !== 'closeUpload')));
});
