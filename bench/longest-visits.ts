import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Requests a route of a link several times, and records the cost. @param what name of the request @param path below the link's address */
export type Visit = (what: string, path: string, init?: RequestInit) => Promise<void>;

const longestHeader = 15_000; // bytes: Node.js accepts at most 16 KiB of headers in a request
const [files, folders, depth] = [30_000, 3000, 200];

/** Fills a folder with a folder of many files, a folder of many folders, a deep folder and a large file. */
export function fillFolder(folder: string): void {
  mkdirSync(join(folder, 'many'));
  for (let index = 0; index < files; index += 1) writeFileSync(join(folder, 'many', `a file with a rather long name ${index}.txt`), '');
  for (let index = 0; index < folders; index += 1) mkdirSync(join(folder, 'wide', `folder ${index}`), { recursive: true });
  mkdirSync(join(folder, deep), { recursive: true });
  writeFileSync(join(folder, 'large.bin'), '');
  truncateSync(join(folder, 'large.bin'), 200 << 20);
}
const deep = Array.from({ length: depth }, (_, index) => `d${index}`).join('/');

/** Repeats a part up to almost the maximum length of a header or path. */
const repeatPart = (part: string) => part.repeat(longestHeader / part.length);
const range = `bytes=${Array.from({ length: 1500 }, (_, index) => `${index * 2}-${index * 2}`).join(',')}`;
const renameRequest = (path: string) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ path, name: 'another' }),
});

/**
 * Requests those routes of a link that may be costly, with deep or large folders, a large file, and the longest paths, queries and headers.
 */
export async function visitWithLongestInputs(visit: Visit): Promise<void> {
  await visit('the page', '');
  await visit('a visit', '/visit');
  await visit('a list of many files', '/list/many');
  await visit('a sorted list of many files', '/list/many?sortField=size&pageSize=1000');
  await visit('a search in many files', '/list/many?searchWord=9');
  await visit('a list of many folders', '/list/wide');
  await visit('a list of a deep folder', `/list/${deep}`);
  await visit('a list of a path that is too long', `/list/${repeatPart('a/')}`);
  await visit('the headers of an archive of many files', '/zip/many', { method: 'HEAD' });
  await visit('an archive of many files', '/zip/many');
  await visit('an archive of many folders', '/zip/wide');
  await visit('many ranges of an archive', '/zip/wide', { headers: { range } });
  await visit('many ranges of a file', '/file/large.bin', { headers: { range }, method: 'HEAD' });
  await visit('a long If-None-Match', '/file/large.bin', { method: 'HEAD', headers: { 'if-none-match': repeatPart('"a",') } });
  await visit('long cookies', '/visit', { headers: { cookie: repeatPart('a=b;') } });
  await visit('a long percent-encoded cookie', '/visit', { headers: { cookie: `postern=${repeatPart('%41')}` } });
  await visit('many languages', '', { headers: { 'accept-language': repeatPart('a;q=0.1,') } });
  await visit('many proxies', '/visit', { headers: { 'x-forwarded-for': repeatPart('10.0.0.1,') } });
  await visit('long credentials', '/visit', {
    headers: { authorization: `Basic ${Buffer.from(`a:${'b'.repeat(9000)}`).toString('base64')}` },
  });
  await visit('a long query', `/list?${repeatPart('a=1&')}`);
  await visit('an upload of 20 MB', '/file/upload.bin', { method: 'PUT', body: Buffer.alloc(20 << 20) });
  await visit('a rename within a long path', '/rename', renameRequest(`/${repeatPart('a/')}`));
  await visit('deletion of a wide folder', '/file/wide', { method: 'DELETE' });
  await visit('deletion of many files', '/file/many', { method: 'DELETE' });
}
