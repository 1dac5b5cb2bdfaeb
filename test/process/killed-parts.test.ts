import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../ports/until.ts';
import { metadataOf, sha256 } from '../resumable-uploads/tus.ts';
import { newShare, temporaryFolder } from '../start.ts';
import { runPostern } from './run-postern.ts';

const uploads = 50; // fewer than the 64 that may run at the same time from one network
const [size, partSize] = [300_000, 60_000]; // bytes
const version = { 'tus-resumable': '1.0.0' };

/** An upload as its client sees it. */
interface ClientUpload {
  readonly name: string;
  readonly bytes: Buffer;
  /** Path of its address. */
  address: string;
  /** Bytes that the server has acknowledged. */
  acknowledged: number;
  isComplete: boolean;
}

/** Sends the parts of an upload from an offset on. @param onPart called after each acknowledged part */
async function sendParts(base: string, upload: ClientUpload, start: number, onPart: () => void): Promise<void> {
  for (let offset = start; offset < size; ) {
    const part = upload.bytes.subarray(offset, offset + partSize);
    const headers = { ...version, 'upload-offset': `${offset}`, 'content-type': 'application/offset+octet-stream' };
    const response = await fetch(base + upload.address, { method: 'PATCH', headers, body: new Uint8Array(part) });
    if (response.status !== 204) throw new Error(`a part was answered with ${response.status}: ${await response.text()}`);
    offset = Number(response.headers.get('upload-offset'));
    upload.acknowledged = offset;
    upload.isComplete = offset === size;
    if (upload.isComplete) assert.equal(response.headers.get('repr-digest'), `sha-256=:${sha256(upload.bytes)}:`);
    onPart();
  }
}

for (const killAfter of [30, 200])
  test(`uploads in parts continue after a process was killed when it had acknowledged ${killAfter} parts, and lose none of the parts`, async (t) => {
    const data = await temporaryFolder(t);
    const files = join(data, 'files');
    mkdirSync(files);
    const first = await runPostern(t, { POSTERN_DATA: data });
    const { viewId } = (await first.send('share/add', newShare())).body;
    const clients = Array.from(
      { length: uploads },
      (_, index): ClientUpload => ({
        ...{ name: `file-${index}`, bytes: randomBytes(size), address: '', acknowledged: 0, isComplete: false },
      }),
    );
    for (const client of clients) {
      const headers = { ...version, 'upload-length': `${size}`, 'upload-metadata': metadataOf(client.name) };
      const response = await fetch(`${first.publicUrl}/s/${viewId}/upload`, { method: 'POST', headers });
      client.address = new URL(response.headers.get('location') ?? '').pathname;
    }
    let parts = 0;
    const onPart = () => {
      parts += 1;
      if (parts === killAfter) first.child.kill('SIGKILL');
    };
    await Promise.allSettled(clients.map((client) => sendParts(first.publicUrl, client, 0, onPart)));
    assert.equal((await first.ended).signal, 'SIGKILL');

    const second = await runPostern(t, { POSTERN_DATA: data });
    const readStored = (name: string) => readFileSync(join(files, name));
    const visible = readdirSync(files).filter((name) => name.startsWith('file-'));
    for (const { name, bytes } of clients.filter((client) => visible.includes(client.name)))
      assert.ok(readStored(name).equals(bytes), name);
    for (const client of clients) {
      const { status, headers } = await fetch(second.publicUrl + client.address, { method: 'HEAD', headers: version });
      const offset = Number(headers.get('upload-offset'));
      assert.ok(offset >= client.acknowledged, `${client.name}: ${offset} of ${client.acknowledged} acknowledged bytes`);
      assert.equal(status, visible.includes(client.name) ? 410 : 200, client.name);
      if (status === 200) await sendParts(second.publicUrl, client, offset, () => {});
    }
    for (const { name, bytes } of clients) assert.ok(readStored(name).equals(bytes), name);
    await until(() => readdirSync(join(files, '.postern')).length === 0);
    const doneEntries = await second.send('audit/search', { action: 'upload', outcome: 'done', pageSize: 1000 });
    assert.equal(doneEntries.body.totalCount, uploads);
    assert.equal((await second.send('audit/search', { outcome: 'begun' })).body.totalCount, 0);
  });
