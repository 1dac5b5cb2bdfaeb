import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../ports/until.ts';
import { newShare, temporaryFolder } from '../start.ts';
import { runPostern } from './run-postern.ts';

const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const parallel = 100;

/** Yields the pieces of a body, so that SIGKILL can interrupt the upload. */
async function* pieces(bytes: Buffer) {
  for (let at = 0; at < bytes.length; at += 65_536) {
    yield bytes.subarray(at, at + 65_536);
    await new Promise(setImmediate);
  }
}

for (const acknowledgements of [5, 60, 150])
  test(`if Postern is killed after ${acknowledgements} responses, all acknowledged changes are kept and no change is partial`, async (t) => {
    const data = await temporaryFolder(t);
    const files = join(data, 'files');
    mkdirSync(files);
    for (let index = 0; index < parallel; index += 1) {
      writeFileSync(join(files, `old-${index}`), `${index}`);
      writeFileSync(join(files, `doomed-${index}`), `${index}`);
    }
    const first = await runPostern(t, { POSTERN_DATA: data });
    const { viewId } = (await first.send('share/add', newShare())).body;
    const link = `${first.publicUrl}/s/${viewId}`;
    const contents = Array.from({ length: parallel }, () => randomBytes(400_000));
    const acknowledgedChanges = {
      shares: new Map<number, string>(),
      uploads: new Set<number>(),
      renamed: new Set<number>(),
      deleted: new Set<number>(),
      folders: new Set<number>(),
    };
    let responseCount = 0;
    const countResponse = (record: () => void) => {
      if (first.child.killed) return;
      record();
      responseCount += 1;
      if (responseCount === acknowledgements) first.child.kill('SIGKILL');
    };
    const sendRequest = async (path: string, init: RequestInit, status: number, record: () => void) => {
      const response = await fetch(link + path, init);
      await response.arrayBuffer();
      if (response.status === status) countResponse(record);
    };
    const json = { 'content-type': 'application/json' };
    const work = Array.from({ length: parallel }, (_, index) => [
      first
        .send('share/add', newShare({ title: `Share ${index}` }))
        .then(({ status, body }) => status === 200 && countResponse(() => acknowledgedChanges.shares.set(body.id, `Share ${index}`))),
      // biome-ignore lint/style/noNonNullAssertion: index is below parallel
      sendRequest(`/file/new-${index}`, { method: 'PUT', body: pieces(contents[index]!), duplex: 'half' } as RequestInit, 201, () =>
        acknowledgedChanges.uploads.add(index),
      ),
      sendRequest(
        '/rename',
        { method: 'POST', headers: json, body: JSON.stringify({ path: `/old-${index}`, name: `renamed-${index}` }) },
        200,
        () => acknowledgedChanges.renamed.add(index),
      ),
      sendRequest(`/file/doomed-${index}`, { method: 'DELETE' }, 204, () => acknowledgedChanges.deleted.add(index)),
      sendRequest(`/folder/folder-${index}`, { method: 'POST' }, 201, () => acknowledgedChanges.folders.add(index)),
      sendRequest('/file/welcome.txt', {}, 200, () => {}),
    ]).flat();
    await Promise.allSettled(work);
    assert.equal((await first.ended).signal, 'SIGKILL');

    const second = await runPostern(t, { POSTERN_DATA: data });
    for (const [id, title] of acknowledgedChanges.shares) assert.equal((await second.send('share/get', { id })).body?.title, title);
    const exists = (name: string) => existsSync(join(files, name));
    for (let index = 0; index < parallel; index += 1) {
      if (acknowledgedChanges.uploads.has(index)) assert.ok(exists(`new-${index}`), `new-${index} was acknowledged`);
      if (exists(`new-${index}`))
        assert.equal(
          hashOf(readFileSync(join(files, `new-${index}`))),
          hashOf(contents[index] ?? Buffer.alloc(0)),
          'the content is complete',
        );
      assert.notEqual(exists(`old-${index}`), exists(`renamed-${index}`), 'the file has exactly one of the two names');
      if (acknowledgedChanges.renamed.has(index)) assert.ok(exists(`renamed-${index}`));
      if (acknowledgedChanges.deleted.has(index)) assert.ok(!exists(`doomed-${index}`));
      if (acknowledgedChanges.folders.has(index)) assert.ok(exists(`folder-${index}`));
    }
    // Staging files that remain are deleted in the background after the start.
    await until(() => !readdirSync(files, { recursive: true, encoding: 'utf8' }).some((name) => /\.postern(-|\/)/.test(name)));
    assert.equal((await second.send('audit/search', { outcome: 'begun' })).body.totalCount, 0);
    // The audit log and the uploaded files on disk agree.
    for (const { action, outcome, path, after } of (await second.send('audit/search', { pageSize: 1000, searchWord: 'new-' })).body.list) {
      if (action !== 'upload') continue;
      assert.equal(exists(path.slice(1)), outcome === 'done', `${path} is recorded as ${outcome} ${JSON.stringify(after)}`);
    }
    second.child.kill('SIGTERM');
    assert.equal((await second.ended).code, 0);
  });
