import assert from 'node:assert/strict';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { startPostern } from '../start.ts';
import { createShare, noPermissions } from './visiting.ts';

const names = (body: { entries: { name: string }[] }) => body.entries.map(({ name }) => name);

/** Creates three files and two folders. Name, size and modification time each give a different order. */
async function createSampleFiles(files: string): Promise<void> {
  await mkdir(join(files, 'box/Zoo'), { recursive: true });
  await mkdir(join(files, 'box/attic'));
  for (const [name, size, seconds] of [
    ['b.txt', 3, 1_700_000_002],
    ['a.txt', 1, 1_700_000_003],
    ['c.pdf', 2, 1_700_000_001],
  ] as const) {
    await writeFile(join(files, 'box', name), 'x'.repeat(size));
    await utimes(join(files, 'box', name), seconds, seconds);
  }
}

test('a listing contains the name, kind, size, modification time, media type and ETag of each entry', async (t) => {
  const postern = await startPostern(t);
  await createSampleFiles(postern.files);
  const { base } = await createShare(postern, { path: '/box' });

  const { status, body } = await postern.visit(`${base}/list`);
  assert.equal(status, 200);
  const { entries, path, ...numbers } = body;
  assert.equal(typeof path, 'string');
  assert.deepEqual(numbers, { startIndex: 0, pageSize: 1000, resultCount: 5, totalCount: 5 });
  for (const entry of entries)
    assert.deepEqual(Object.keys(entry).sort(), ['etag', 'folder', 'mediaType', 'modifiedDateTime', 'name', 'size']);
  const { etag, ...file } = entries.find(({ name }: { name: string }) => name === 'c.pdf');
  assert.deepEqual(file, {
    name: 'c.pdf',
    folder: false,
    size: 2,
    modifiedDateTime: '2023-11-14T22:13:21.000Z',
    mediaType: 'application/pdf',
  });
  assert.equal((await postern.visit(`${base}/file/c.pdf`)).headers.get('etag'), etag);
});

test('folders come first with every sort field and order', async (t) => {
  const postern = await startPostern(t);
  await createSampleFiles(postern.files);
  const { base } = await createShare(postern, { path: '/box' });
  const listNames = async (query: string) => names((await postern.visit(`${base}/list?${query}`)).body);

  assert.deepEqual((await listNames('')).slice(0, 2).sort(), ['Zoo', 'attic']);
  assert.deepEqual((await listNames('')).slice(2), ['a.txt', 'b.txt', 'c.pdf']);
  for (const order of ['dsc', 'dse', 'desc', 'descending', 'DESC'])
    assert.deepEqual((await listNames(`sortField=name&sortOrder=${order}`)).slice(2), ['c.pdf', 'b.txt', 'a.txt'], order);
  for (const order of ['ace', 'asc', 'ascending', 'Asc'])
    assert.deepEqual((await listNames(`sortField=size&sortOrder=${order}`)).slice(2), ['a.txt', 'c.pdf', 'b.txt'], order);
  assert.deepEqual((await listNames('sortField=size&sortOrder=dsc')).slice(2), ['b.txt', 'c.pdf', 'a.txt']);
  assert.deepEqual((await listNames('sortField=modifiedDateTime')).slice(2), ['c.pdf', 'b.txt', 'a.txt']);
  assert.deepEqual((await listNames('sortField=modifiedDateTime&sortOrder=dsc')).slice(0, 2).sort(), ['Zoo', 'attic']);
});

test('a search word matches any part of a name and ignores case', async (t) => {
  const postern = await startPostern(t);
  await createSampleFiles(postern.files);
  await writeFile(join(postern.files, 'box/ÄRGER.txt'), '');
  const { base } = await createShare(postern, { path: '/box' });
  const search = async (word: string) => (await postern.visit(`${base}/list?searchWord=${encodeURIComponent(word)}`)).body;

  assert.deepEqual(names(await search('TXT')).sort(), ['a.txt', 'b.txt', 'ÄRGER.txt']);
  assert.equal((await search('TXT')).totalCount, 3);
  assert.deepEqual(names(await search('ärg')), ['ÄRGER.txt']);
  assert.deepEqual(names(await search('zoo')), ['Zoo']);
  assert.deepEqual(names(await search('nowhere')), []);
  for (const pattern of ['%', '_', '*', '.*']) assert.deepEqual(names(await search(pattern)), [], pattern);
});

test('a listing request with invalid parameter values gets 400', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  for (const query of [
    'pageSize=0',
    'pageSize=10001',
    'pageSize=-1',
    'pageSize=x',
    'pageSize=1.5',
    'pageSize=',
    'startIndex=-1',
    'startIndex=x',
    'sortField=etag',
    'sortField=',
    'sortOrder=up',
  ])
    assert.equal((await postern.visit(`${base}/list?${query}`)).status, 400, query);
  assert.equal((await postern.visit(`${base}/list?pageSize=10000`)).status, 200);
  assert.deepEqual(names((await postern.visit(`${base}/list?startIndex=5`)).body), []);
});

test('a folder of a hundred thousand files is listed in pages without gaps or duplicates', async (t) => {
  const postern = await startPostern(t);
  mkdirSync(join(postern.files, 'many/zz'), { recursive: true });
  for (let number = 0; number < 100_000; number += 1) closeSync(openSync(join(postern.files, `many/${number}.txt`), 'w'));
  const { base } = await createShare(postern, { path: '/many' });

  const listedNames = new Set<string>();
  for (let startIndex = 0; startIndex <= 100_000; startIndex += 10_000) {
    const { body } = await postern.visit(`${base}/list?pageSize=10000&startIndex=${startIndex}`);
    assert.equal(body.totalCount, 100_001);
    assert.equal(body.resultCount, startIndex < 100_000 ? 10_000 : 1);
    if (startIndex === 0) assert.equal(body.entries[0].name, 'zz');
    for (const name of names(body)) listedNames.add(name);
  }
  assert.equal(listedNames.size, 100_001);
});

test('only the permission to view or to download allows a listing', async (t) => {
  const postern = await startPostern(t);
  for (const flag of Object.keys(noPermissions)) {
    const { base } = await createShare(postern, { ...noPermissions, [flag]: true });
    const expected = flag === 'canView' || flag === 'canDownload' ? 200 : 403;
    assert.equal((await postern.visit(`${base}/list`)).status, expected, flag);
  }
});

test('files that are reserved for Postern are never listed, but other dot files are', async (t) => {
  const postern = await startPostern(t);
  await mkdir(join(postern.files, '.postern'), { recursive: true });
  await writeFile(join(postern.files, '.postern/secret.txt'), 's');
  await writeFile(join(postern.files, '.postern-x'), 's');
  await writeFile(join(postern.files, '.Postern-Y'), 's');
  await writeFile(join(postern.files, '.env'), 'e');
  await writeFile(join(postern.files, '.posternet'), 'e');
  const { base } = await createShare(postern);

  assert.deepEqual(names((await postern.visit(`${base}/list`)).body).sort(), ['.env', '.posternet', 'welcome.txt']);
  assert.equal((await postern.visit(`${base}/file/.env`)).body, 'e');
  assert.equal((await postern.visit(`${base}/file/.posternet`)).body, 'e');
});

test('a file whose name is not valid UTF-8 is not listed', async (t) => {
  const postern = await startPostern(t);
  await writeFile(Buffer.concat([Buffer.from(`${postern.files}/bad`), Buffer.from([0xff, 0xfe])]), 'b');
  const { base } = await createShare(postern);
  assert.deepEqual(names((await postern.visit(`${base}/list`)).body), ['welcome.txt']);
});

test('a share of one file lists only this file', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern, { path: '/welcome.txt', folder: false });
  const { body } = await postern.visit(`${base}/list`);
  assert.deepEqual(names(body), ['welcome.txt']);
  assert.equal(body.totalCount, 1);
  assert.equal((await postern.visit(`${base}/list/welcome.txt`)).status, 404);
});
