import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import sharp from 'sharp';
import { DocumentRenderer } from '#adapters/documents/document-renderer.ts';
import { sandboxCommand } from '#adapters/documents/office/sandbox-command.ts';
import { atEnd } from '../parts/at-end.ts';
import { intercept } from '../parts/intercept.ts';
import { isInstalled } from '../parts/is-installed.ts';
import { docx, openDocumentOf, openDocuments, xlsx, zipOf } from '../parts/office-documents.ts';
import { samplePdf } from '../parts/sample-documents.ts';
import { until } from '../ports/until.ts';
import { startPostern, type TestPostern, temporaryFolder } from '../start.ts';
import { createShare, type RawResponse, sendPath } from '../visit/visiting.ts';

const missing = ['soffice', 'bwrap'].find((program) => !isInstalled(program));
const skip = missing === undefined ? false : `${missing} is not installed`;
const word = docx(['The first page', 'The second page']);

async function startWithFiles(t: TestContext, files: Readonly<Record<string, Buffer>>, environment = {}): Promise<TestPostern> {
  const postern = await startPostern(t, { environment });
  await mkdir(join(postern.files, 'office'));
  for (const [name, bytes] of Object.entries(files)) await writeFile(join(postern.files, 'office', name), bytes);
  return postern;
}

const shareOf = (postern: TestPostern, over: object = {}) => createShare(postern, { path: '/office', ...over });
/** Returns a refusal as its status and code. */
const refusalOf = ({ status, json }: RawResponse) => `${status} ${json?.code}`;

/** Returns the fraction of the pixels that are clearly darker than white, from 0 to 1. */
async function inkOf(picture: Buffer): Promise<number> {
  const pixels = await sharp(picture).greyscale().raw().toBuffer();
  return pixels.filter((pixel) => pixel < 200).length / pixels.length;
}

test('pages of Word, Excel, PowerPoint and OpenDocument files are shown', { skip, timeout: 120_000 }, async (t) => {
  const folder = await temporaryFolder(t);
  await writeFile(join(folder, 'a.odp'), openDocuments['a.odp'] ?? '');
  execFileSync('soffice', [
    `-env:UserInstallation=file://${folder}/profile`,
    '--headless',
    '--convert-to',
    'pptx',
    '--outdir',
    folder,
    join(folder, 'a.odp'),
  ]);
  const files = { ...openDocuments, 'a.docx': word, 'a.xlsx': xlsx('A cell'), 'a.pptx': await readFile(join(folder, 'a.pptx')) };
  const postern = await startWithFiles(t, files);
  const { base } = await shareOf(postern);
  assert.equal((await sendPath(postern, `${base}/visit`)).json.share.officePages, true);
  for (const name of Object.keys(files)) {
    const pages = await sendPath(postern, `${base}/pages/${name}`);
    assert.equal(pages.json?.totalCount, name === 'a.docx' ? 2 : 1, `${name}: ${pages.status}`);
    const page = await sendPath(postern, `${base}/page/${name}?number=1&width=400`);
    assert.match(page.headers['content-type'] ?? '', /^image\/(jpeg|png)$/);
    assert.equal((await sharp(page.bytes).metadata()).width, 400);
    assert.ok((await inkOf(page.bytes)) > 0, `${name} is not blank`);
  }
});

test('the original of a protected Office document is never sent, and its pages have the watermark', {
  skip,
  timeout: 60_000,
}, async (t) => {
  const postern = await startWithFiles(t, { 'a.docx': word });
  const [open, copyProtected] = [await shareOf(postern), await shareOf(postern, { copyProtect: true })];
  const marked = await shareOf(postern, { waterMarkText: 'For {ip}' });
  const pageOf = async (base: string) => inkOf((await sendPath(postern, `${base}/page/a.docx?number=1&width=800`)).bytes);
  const plain = await pageOf(open.base);
  for (const { base } of [copyProtected, marked]) {
    assert.ok((await pageOf(base)) > 2 * plain, 'the watermark is seen');
    for (const path of ['view/a.docx', 'file/a.docx', 'zip'])
      for (const headers of [{}, { range: 'bytes=0-99' }] as const)
        assert.equal((await sendPath(postern, `${base}/${path}`, { headers })).status, 403, path);
  }
});

test('the refusal of a damaged Office document names the reason, and a ZIP file that is no Office document has no pages', {
  skip,
  timeout: 60_000,
}, async (t) => {
  const damaged = zipOf({ '[Content_Types].xml': '<', '_rels/.rels': '<' });
  const postern = await startWithFiles(t, { 'a.docx': damaged, 'a.zip': zipOf({ 'a.txt': 'text' }) });
  const { base } = await shareOf(postern);
  const response = await sendPath(postern, `${base}/pages/a.docx`);
  assert.equal(refusalOf(response), '415 hasNoPages');
  assert.match(response.json?.detail, /damaged/);
  assert.equal(refusalOf(await sendPath(postern, `${base}/pages/a.zip`)), '415 hasNoPages');
});

test('while the conversion of Office documents takes long, other documents are drawn at the same links', async (t) => {
  const renderer = new DocumentRenderer(null);
  atEnd(t, () => renderer[Symbol.asyncDispose]());
  const gate = Promise.withResolvers<void>();
  let conversions = 0;
  const documents = intercept(renderer, 'documents', (method, [document]) => {
    if (method !== 'documents.pages' || !Object.values(document ?? {}).includes('office')) return undefined;
    conversions += 1;
    return gate.promise;
  });
  const postern = await startPostern(t, { replacements: { ports: { documents } } });
  await writeFile(join(postern.files, 'a.docx'), word);
  await writeFile(join(postern.files, 'paper.pdf'), await samplePdf());
  const bases = await Promise.all(Array.from({ length: 3 }, async () => (await createShare(postern)).base));
  const waiting = Promise.all([...bases, ...bases].map((base) => sendPath(postern, `${base}/pages/a.docx`)));
  await until(() => conversions === bases.length);
  for (const base of bases) assert.equal((await sendPath(postern, `${base}/pages/paper.pdf`)).json?.totalCount, 3);
  assert.equal(conversions, bases.length, 'only one Office document of a link is converted at a time');
  gate.resolve();
  for (const response of await waiting) assert.equal(refusalOf(response), '415 hasNoPages');
});

test('an Office document that links to an address causes no request', { skip, timeout: 60_000 }, async (t) => {
  let requests = 0;
  const server = createServer((_, response) => {
    requests += 1;
    response.end();
  }).listen(0, '127.0.0.1');
  atEnd(t, () => server.close());
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const links = openDocumentOf(
    'text',
    `<text:p><draw:frame svg:width="9cm" svg:height="9cm"><draw:image xlink:href="http://127.0.0.1:${port}/a.png"/></draw:frame></text:p>`,
  );
  const postern = await startWithFiles(t, { 'a.odt': links });
  const { base } = await shareOf(postern);
  assert.equal((await sendPath(postern, `${base}/pages/a.odt`)).json?.totalCount, 1);
  assert.equal(requests, 0);
});

test('a program in the sandbox of LibreOffice has no network, no environment variables of Postern, and no files of the machine but programs and fonts', {
  skip,
}, () => {
  const script = [
    'ls -d /home /root /srv /var/lib /etc/passwd',
    'for folder in / /etc /usr /proc /dev /dev/shm; do echo text > $folder/written && echo "wrote to $folder"; done',
    'grep -v -e face -e Inter -e lo: /proc/net/dev',
    'env | grep -v -e ^HOME= -e ^PATH= -e ^PWD=',
    '(echo text > /dev/tcp/127.0.0.1/1) && echo connected',
    'unshare -Ur echo "a user namespace"',
    'cat /tmp/document',
  ].join('\n');
  const [command, ...parameters] = sandboxCommand('/usr/bin/env', script, { memory: 256, processorTime: 10 });
  const { stdout } = spawnSync(command, parameters, { input: 'the document\n', encoding: 'utf8', env: { SECRET: 'value' } });
  assert.equal(stdout, 'the document\n');
});

test('without LibreOffice, the response of a visit says that Office documents have no pages, and requests for their pages are refused', async (t) => {
  const postern = await startWithFiles(t, { 'a.docx': word }, { POSTERN_LIBREOFFICE: 'none' });
  const { base } = await shareOf(postern);
  assert.equal((await sendPath(postern, `${base}/visit`)).json.share.officePages, false);
  const response = await sendPath(postern, `${base}/pages/a.docx`);
  assert.equal(refusalOf(response), '415 hasNoPages');
  assert.match(response.json?.detail, /Office documents/);
  const { base: protectedBase } = await shareOf(postern, { copyProtect: true });
  assert.equal(refusalOf(await sendPath(postern, `${protectedBase}/pages/a.docx`)), '403 cannotBeMarked');
});
