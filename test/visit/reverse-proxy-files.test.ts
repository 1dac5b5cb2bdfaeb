import assert from 'node:assert/strict';
import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startPostern, temporaryFolder } from '../start.ts';
import { createShare, sendPath } from './visiting.ts';

const size = 600 * 1024; // bytes, large enough for the proxy to send the file

async function startBehindProxy(t: TestContext, proxy: string, header: string, name = 'naïve #1.pdf') {
  const postern = await startPostern(t, { environment: { POSTERN_SENDFILE: header, POSTERN_TRUSTED_PROXIES: proxy } });
  await mkdir(join(postern.files, 'box'));
  await writeFile(join(postern.files, 'box', name), '%PDF-1.7\n'.padEnd(size, ' '));
  await writeFile(join(postern.files, 'box/small.txt'), 'small');
  const { base } = await createShare(postern, { path: '/box' });
  return {
    postern,
    base,
    address: `${base}/file/${encodeURIComponent(name)}`,
    filePath: join(postern.files, 'box', encodeURIComponent(name)),
  };
}

for (const [header, prefix, name] of [
  ['x-accel-redirect', '/postern-files', 'naïve #1.pdf'],
  ['x-sendfile', '', 'plain-1.pdf'],
] as const)
  test(`${header} tells a trusted proxy to send a large file itself, after the permission check`, async (t) => {
    const { postern, address, filePath } = await startBehindProxy(t, '127.0.0.1', header, name);
    const answer = await sendPath(postern, address, { headers: { range: 'bytes=0-9', 'if-match': '"of the proxy"' } });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers[header], prefix + filePath);
    assert.equal(answer.headers['content-type'], 'application/pdf');
    assert.match(answer.headers['content-disposition'] ?? '', /^attachment; /);
    assert.equal(answer.text, '');
    const { list } = await postern.call('audit/search', { action: 'download' });
    assert.deepEqual(
      list.map(({ bytes, path }: { bytes: number | null; path: string }) => [bytes, path]),
      [[null, `/${name}`]],
    );
  });

test('x-sendfile is not used for a path that needs encoding, because proxies decode it differently', async (t) => {
  const { postern, base, address } = await startBehindProxy(t, '127.0.0.1', 'x-sendfile');
  await mkdir(join(postern.files, 'box/a%20b'));
  await writeFile(join(postern.files, 'box/a%20b/c'), Buffer.alloc(size));
  for (const path of [address, `${base}/file/a%2520b/c`]) {
    const answer = await sendPath(postern, path);
    assert.equal(answer.headers['x-sendfile'], undefined, path);
    assert.equal(answer.bytes.length, size, path);
  }
});

test('a trusted proxy gets the real path of a file if a symbolic link leads to the location', async (t) => {
  const folder = await realpath(await temporaryFolder(t));
  await mkdir(join(folder, 'disk'));
  await writeFile(join(folder, 'disk/large'), Buffer.alloc(size));
  await symlink(join(folder, 'disk'), join(folder, 'linked'));
  const postern = await startPostern(t, {
    environment: { POSTERN_SENDFILE: 'x-sendfile', POSTERN_TRUSTED_PROXIES: '127.0.0.1', POSTERN_LOCAL_ROOTS: `1:${folder}` },
  });
  await postern.call('location/add', { name: 'linked', kind: 'local', configuration: JSON.stringify({ folder: join(folder, 'linked') }) });
  const { base } = await createShare(postern, { location: 'linked', path: '/' });
  const answer = await sendPath(postern, `${base}/file/large`);
  assert.equal(answer.headers['x-sendfile'], join(folder, 'disk/large'));
});

test('only a trusted proxy gets the path of a file on disk', async (t) => {
  const { postern, address } = await startBehindProxy(t, '192.0.2.1', 'x-accel-redirect');
  const answer = await sendPath(postern, address);
  assert.equal(answer.bytes.length, size);
  assert.doesNotMatch(JSON.stringify(answer.headers), /postern-files|accel|sendfile/i);
});

test('small files, previews, archives and refused requests are not passed to the proxy', async (t) => {
  const { postern, base, address } = await startBehindProxy(t, '127.0.0.1', 'x-accel-redirect');
  for (const path of [`${base}/file/small.txt`, address.replace('/file/', '/view/'), `${base}/zip`]) {
    const answer = await sendPath(postern, path);
    assert.equal(answer.status, 200, path);
    assert.ok(answer.bytes.length > 0, path);
    assert.equal(answer.headers['x-accel-redirect'], undefined, path);
  }
  const closedShare = await createShare(postern, { path: '/box', canDownload: false });
  const refusal = await sendPath(postern, address.replace(base, closedShare.base));
  assert.deepEqual([refusal.status, refusal.headers['x-accel-redirect']], [403, undefined]);
});
