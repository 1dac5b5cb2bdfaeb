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

/** A body that is sent in pieces, so that the kill interrupts it. */
async function* pieces(bytes: Buffer) {
  for (let at = 0; at < bytes.length; at += 65_536) {
    yield bytes.subarray(at, at + 65_536);
    await new Promise(setImmediate);
  }
}

for (const acknowledgements of [5, 60, 150])
  test(`a process killed after ${acknowledgements} responses keeps every acknowledged change and no partial change`, async (t) => {
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
    const acknowledged = {
      shares: new Map<number, string>(),
      uploads: new Set<number>(),
      renamed: new Set<number>(),
      deleted: new Set<number>(),
      folders: new Set<number>(),
    };
    let answers = 0;
    const answered = (note: () => void) => {
      if (first.child.killed) return;
      note();
      answers += 1;
      if (answers === acknowledgements) first.child.kill('SIGKILL');
    };
    const ask = async (path: string, init: RequestInit, status: number, note: () => void) => {
      const response = await fetch(link + path, init);
      await response.arrayBuffer();
      if (response.status === status) answered(note);
    };
    const json = { 'content-type': 'application/json' };
    const work = Array.from({ length: parallel }, (_, index) => [
      first
        .send('share/add', newShare({ title: `Share ${index}` }))
        .then(({ status, body }) => status === 200 && answered(() => acknowledged.shares.set(body.id, `Share ${index}`))),
      // biome-ignore lint/style/noNonNullAssertion: index is below parallel
      ask(`/file/new-${index}`, { method: 'PUT', body: pieces(contents[index]!), duplex: 'half' } as RequestInit, 201, () =>
        acknowledged.uploads.add(index),
      ),
      ask(
        '/rename',
        { method: 'POST', headers: json, body: JSON.stringify({ path: `/old-${index}`, name: `renamed-${index}` }) },
        200,
        () => acknowledged.renamed.add(index),
      ),
      ask(`/file/doomed-${index}`, { method: 'DELETE' }, 204, () => acknowledged.deleted.add(index)),
      ask(`/folder/folder-${index}`, { method: 'POST' }, 201, () => acknowledged.folders.add(index)),
      ask('/file/welcome.txt', {}, 200, () => {}),
    ]).flat();
    await Promise.allSettled(work);
    assert.equal((await first.ended).signal, 'SIGKILL');

    const second = await runPostern(t, { POSTERN_DATA: data });
    for (const [id, title] of acknowledged.shares) assert.equal((await second.send('share/get', { id })).body?.title, title);
    const there = (name: string) => existsSync(join(files, name));
    for (let index = 0; index < parallel; index += 1) {
      if (acknowledged.uploads.has(index)) assert.ok(there(`new-${index}`), `new-${index} was answered`);
      if (there(`new-${index}`))
        assert.equal(
          hashOf(readFileSync(join(files, `new-${index}`))),
          hashOf(contents[index] ?? Buffer.alloc(0)),
          'the content is complete',
        );
      assert.notEqual(there(`old-${index}`), there(`renamed-${index}`), 'one name, not both');
      if (acknowledged.renamed.has(index)) assert.ok(there(`renamed-${index}`));
      if (acknowledged.deleted.has(index)) assert.ok(!there(`doomed-${index}`));
      if (acknowledged.folders.has(index)) assert.ok(there(`folder-${index}`));
    }
    // Staging files that remain are deleted in the background after the start.
    await until(() => !readdirSync(files, { recursive: true, encoding: 'utf8' }).some((name) => /\.postern(-|\/)/.test(name)));
    assert.equal((await second.send('audit/search', { outcome: 'begun' })).body.totalCount, 0);
    // The audit log and the files on disk agree.
    for (const { action, outcome, path, after } of (await second.send('audit/search', { pageSize: 1000, searchWord: 'new-' })).body.list) {
      if (action !== 'upload') continue;
      assert.equal(there(path.slice(1)), outcome === 'done', `${path} is recorded as ${outcome} ${JSON.stringify(after)}`);
    }
    second.child.kill('SIGTERM');
    assert.equal((await second.ended).code, 0);
  });
