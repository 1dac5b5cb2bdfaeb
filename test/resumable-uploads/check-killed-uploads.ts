import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { until } from '../ports/until.ts';
import { runPostern } from '../process/run-postern.ts';
import { newShare, temporaryFolder } from '../start.ts';
import { metadataOf, sha256 } from './tus.ts';

const uploads = 100;
const simultaneous = 50; // fewer than the 64 that may run at the same time from one network
/** Bytes. Every 25th file is large, so that storage services receive it in several parts. */
const sizes = { small: 300_000, large: 10_000_000 };
const partsOfFile = 5;
const version = { 'tus-resumable': '1.0.0' };

/** An upload as its client sees it. */
interface ClientUpload {
  readonly name: string;
  readonly bytes: Buffer;
  /** Path of its address. */
  address: string;
  /** Bytes that the server has acknowledged. */
  acknowledgedBytes: number;
}

/** Sends the parts of an upload from an offset on. @param onPart called after each acknowledged part */
async function sendParts(base: string, upload: ClientUpload, start: number, onPart: () => void): Promise<void> {
  const { length } = upload.bytes;
  for (let offset = start; offset < length; ) {
    const part = upload.bytes.subarray(offset, offset + Math.ceil(length / partsOfFile));
    const headers = { ...version, 'upload-offset': `${offset}`, 'content-type': 'application/offset+octet-stream' };
    const send = () => fetch(base + upload.address, { method: 'PATCH', headers, body: new Uint8Array(part) });
    let response = await send();
    // 423: recovery has not found out yet whether the file is in place.
    while (response.status === 423) {
      await setTimeout(1000 * Number(response.headers.get('retry-after')));
      response = await send();
    }
    if (response.status !== 204) throw new Error(`a part was answered with ${response.status}: ${await response.text()}`);
    offset = Number(response.headers.get('upload-offset'));
    upload.acknowledgedBytes = offset;
    if (offset === length) assert.equal(response.headers.get('repr-digest'), `sha-256=:${sha256(upload.bytes)}:`);
    onPart();
  }
}

/** Runs `work` for each client, for at most `simultaneous` clients at a time. */
async function forEachClient(clients: readonly ClientUpload[], work: (client: ClientUpload) => Promise<void>): Promise<void> {
  const queue = clients[Symbol.iterator]();
  const workNext = async () => {
    for (const client of queue) await work(client);
  };
  await Promise.all(Array.from({ length: simultaneous }, workNext));
}

interface UploadLocation {
  /** Settings of Postern. */
  readonly environment?: Record<string, string>;
  /** Body of `location/add`; absent: the location `local` is used. */
  readonly location?: { readonly name: string; readonly kind: string; readonly configuration: string };
  /** Returns the names of all files and service-side uploads that unfinished uploads have left. @param data POSTERN_DATA */
  listStaged(data: string): Promise<readonly string[]>;
  /** Sweeps the location with a clock that is ahead: a sweep keeps files that are not old enough. Absent: not needed. */
  sweep?(): Promise<void>;
}

/**
 * Kills a process in the middle of 100 uploads in parts, and completes the uploads with a second process. Checks that no acknowledged
 * byte is lost, no incomplete file is visible, each upload is recorded once, and nothing is left behind.
 * @param killAfter number of acknowledged parts after which the process is killed
 */
export async function checkKilledUploads(t: TestContext, uploadLocation: UploadLocation, killAfter: number): Promise<void> {
  const data = await temporaryFolder(t);
  const environment = { POSTERN_DATA: data, ...uploadLocation.environment };
  const first = await runPostern(t, environment);
  if (uploadLocation.location) await first.send('location/add', uploadLocation.location);
  const { viewId } = (await first.send('share/add', newShare({ location: uploadLocation.location?.name ?? 'local' }))).body;
  const clients = Array.from({ length: uploads }, (_, index): ClientUpload => {
    const bytes = randomBytes(index % 25 === 0 ? sizes.large : sizes.small);
    return { name: `file-${index}`, bytes, address: '', acknowledgedBytes: 0 };
  });
  await forEachClient(clients, async (client) => {
    const headers = { ...version, 'upload-length': `${client.bytes.length}`, 'upload-metadata': metadataOf(client.name) };
    const response = await fetch(`${first.publicUrl}/s/${viewId}/upload`, { method: 'POST', headers });
    client.address = new URL(response.headers.get('location') ?? '').pathname;
  });
  let parts = 0;
  const onPart = () => {
    parts += 1;
    if (parts === killAfter) first.child.kill('SIGKILL');
  };
  await forEachClient(clients, (client) => sendParts(first.publicUrl, client, 0, onPart).catch(() => {}));
  assert.equal((await first.ended).signal, 'SIGKILL');
  assert.notDeepEqual(await uploadLocation.listStaged(data), []);

  const second = await runPostern(t, environment);
  const link = `${second.publicUrl}/s/${viewId}`;
  const isStored = async ({ name, bytes }: ClientUpload) => {
    const response = await fetch(`${link}/file/${name}`);
    const content = Buffer.from(await response.arrayBuffer());
    if (response.status === 200) assert.ok(content.equals(bytes), `${name} is not the file that was sent`);
    else assert.equal(response.status, 404, name);
    return response.status === 200;
  };
  await forEachClient(clients, async (client) => {
    const isVisible = await isStored(client);
    const { status, headers } = await fetch(second.publicUrl + client.address, { method: 'HEAD', headers: version });
    const offset = Number(headers.get('upload-offset'));
    assert.ok(offset >= client.acknowledgedBytes, `${client.name}: ${offset} of ${client.acknowledgedBytes} acknowledged bytes`);
    assert.equal(status, isVisible ? 410 : 200, client.name);
    if (!isVisible) await sendParts(second.publicUrl, client, offset, () => {});
    assert.ok(await isStored(client), client.name);
  });
  await until(async () => {
    await uploadLocation.sweep?.();
    return (await uploadLocation.listStaged(data)).length === 0;
  });
  const doneEntries = await second.send('audit/search', { action: 'upload', outcome: 'done', pageSize: 1000 });
  assert.equal(doneEntries.body.totalCount, uploads);
  assert.equal((await second.send('audit/search', { action: 'upload', outcome: 'begun' })).body.totalCount, 0);
}
