import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import sharp from 'sharp';
import { type CorpusDocument, type CorpusKind, documentCorpus } from '../parts/document-corpus.ts';
import { isInstalled } from '../parts/is-installed.ts';
import { certificateFile, certificatePassword } from '../parts/stored-certificate.ts';
import { startPostern, type TestPostern } from '../start.ts';
import { createShare, type RawResponse, sendPath } from '../visit/visiting.ts';

const [hasQpdf, hasPoppler] = [isInstalled('qpdf'), isInstalled('pdfsig') && isInstalled('pdftoppm')];
/** What a share sends: the original, a new file, the pages, or a refusal. Several refusals: any of them. */
type Expected = 'original' | 'new' | 'pages' | readonly string[];
type Expectations = Readonly<Record<CorpusKind, Expected>>;

const [noPages, notMarked, notSigned] = [['415 hasNoPages'], ['403 cannotBeMarked'], ['403 cannotBeSigned']];
const tooCostly = '413 documentTooLarge';
/**
 * Returns what is expected for each kind: `document` if Postern can draw it, else `unreadable`. For an unreadable image, 413 is expected
 * too.
 * @param over other values for some kinds
 */
const expectationsOf = (document: Expected, unreadable: readonly string[], over: Partial<Expectations> = {}): Expectations => ({
  ...{ document, unsignable: document, image: document },
  ...{ unreadable, unreadableImage: [...unreadable, tooCostly], playable: unreadable, other: unreadable },
  ...over,
});
const all = (expected: Expected): Expectations => ({
  ...expectationsOf(expected, []),
  unreadable: expected,
  unreadableImage: expected,
  playable: expected,
  other: expected,
});
const copyProtected = all(['403 copyProtected']);
const signedOnly: Partial<Expectations> = {
  unsignable: notSigned,
  unreadable: notSigned,
  image: 'original',
  unreadableImage: 'original',
  playable: 'original',
  other: 'original',
};

const markedPages = expectationsOf('pages', notMarked);
const markedFile = expectationsOf('new', notMarked);
const onlyPages = expectationsOf(['403 copyProtected'], notMarked, {
  unreadable: ['403 copyProtected'],
  unreadableImage: ['403 copyProtected'],
});

/** All combinations of flags, and what `pages`, `view` and `file` send with each. */
const shares: readonly [name: string, flags: object, pages: Expectations, view: Expectations, file: Expectations][] = [
  ['no protection', {}, expectationsOf('pages', noPages), { ...all('original'), other: ['415 cannotBeViewed'] }, all('original')],
  ['copyProtect', { copyProtect: true }, markedPages, onlyPages, copyProtected],
  ['copyProtect and digitalSignature', { copyProtect: true, digitalSignature: true }, markedPages, onlyPages, copyProtected],
  ['waterMarkText', { waterMarkText: 'For {ip}' }, markedPages, markedFile, markedFile],
  ['copyProtect and waterMarkText', { copyProtect: true, waterMarkText: 'For {ip}' }, markedPages, onlyPages, markedFile],
  [
    'copyProtect, waterMarkText and digitalSignature',
    { copyProtect: true, waterMarkText: 'For {ip}', digitalSignature: true },
    markedPages,
    onlyPages,
    markedFile,
  ],
  [
    'digitalSignature',
    { digitalSignature: true },
    expectationsOf('pages', noPages),
    { ...all('original'), other: ['415 cannotBeViewed'] },
    expectationsOf('new', [], signedOnly),
  ],
  ['waterMarkText and digitalSignature', { waterMarkText: 'For {ip}', digitalSignature: true }, markedPages, markedFile, markedFile],
];

/** The shares whose pages are drawn, too: without and with a mark. */
const drawnShares = ['no protection', 'copyProtect and waterMarkText'];

let corpus: readonly CorpusDocument[];
let folder: string;
after(() => rm(folder, { recursive: true }));
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'corpus-'));
  corpus = await documentCorpus(hasQpdf ? folder : null);
});

/** Checks a new file: a PDF with other programs, if they are installed, and an image with sharp. */
async function checkNewFile(bytes: Buffer, isSigned: boolean): Promise<void> {
  if (!bytes.subarray(0, 5).equals(Buffer.from('%PDF-'))) return void (await sharp(bytes).stats());
  const path = join(folder, 'checked.pdf');
  await writeFile(path, bytes);
  if (hasQpdf) assert.notEqual(spawnSync('qpdf', ['--check', path]).status, 2, 'qpdf finds an error');
  if (isSigned && hasPoppler) assert.match(execFileSync('pdfsig', ['-nocert', path], { encoding: 'utf8' }), /Signature is Valid/);
}

/** Returns the first page of a PDF as poppler draws it: one grey byte for each pixel. null: poppler cannot draw it. */
async function drawWithPoppler(bytes: Buffer): Promise<{ readonly size: string; readonly pixels: Buffer } | null> {
  const path = join(folder, 'drawn.pdf');
  await writeFile(path, bytes);
  const { status, stdout } = spawnSync('pdftoppm', ['-gray', '-cropbox', '-singlefile', '-scale-to', '300', path], { maxBuffer: 1 << 24 });
  const [header, size] = /^P5\n(\d+ \d+)\n255\n/.exec(stdout.subarray(0, 40).toString('latin1')) ?? [];
  if (status !== 0 || header === undefined || size === undefined) return null;
  return { size, pixels: stdout.subarray(header.length) };
}

/** The documents that poppler draws differently: it ignores a crop box that is larger than the page. */
const drawnDifferently = ['cropped outside of its page.pdf'];

/** The largest change of a pixel by the mark, in levels: it is drawn in white and black, at less than half opacity. */
const maxMarkChange = 130;

/** Checks that a marked PDF looks like its original, with a mark. */
async function checkLooks(marked: Buffer, original: Buffer): Promise<void> {
  const before = await drawWithPoppler(original);
  if (!before) return;
  const after = await drawWithPoppler(marked);
  assert.equal(after?.size, before.size, 'the page has another size');
  const changes = before.pixels.map((level, pixel) => Math.abs(level - (after.pixels[pixel] ?? 0)));
  const strong = changes.filter((change) => change > maxMarkChange).length;
  assert.ok(strong < changes.length / 200, `${strong} of ${changes.length} pixels look different`);
  assert.ok(Math.max(...changes) > 5, 'there is no mark');
}

/** Returns what a response is: the original, a new file, the pages, or a refusal. */
function resultOf(route: string, response: RawResponse, { bytes }: CorpusDocument): string {
  if (response.status !== 200) return `${response.status} ${response.json?.code}`;
  if (response.json?.totalCount > 0) return 'pages';
  if (route === 'page' || route === 'thumbnail') return /^image\//.test(String(response.headers['content-type'])) ? 'pages' : 'no picture';
  return response.bytes.equals(bytes) ? 'original' : 'new';
}

/** Shares the documents of the corpus, and a signed one. */
async function startWithCorpus(t: TestContext): Promise<{ postern: TestPostern; documents: readonly CorpusDocument[] }> {
  const postern = await startPostern(t);
  await mkdir(join(postern.files, 'corpus'));
  for (const { name, bytes } of corpus) await writeFile(join(postern.files, 'corpus', name), bytes);
  await postern.call('signature/update', { certificate: certificateFile, password: certificatePassword });
  const { base } = await createShare(postern, { path: '/corpus', digitalSignature: true });
  const { status, bytes } = await sendPath(postern, `${base}/file/plain.pdf`);
  assert.equal(status, 200);
  await writeFile(join(postern.files, 'corpus', 'signed.pdf'), bytes);
  return { postern, documents: [...corpus, { name: 'signed.pdf', kind: 'document', bytes }] };
}

for (const [name, flags, pages, view, file] of shares)
  test(`each document of the corpus is sent in the right form, or refused: ${name}`, async (t) => {
    assert.ok(corpus.length >= 60);
    const { postern, documents } = await startWithCorpus(t);
    const { base } = await createShare(postern, { path: '/corpus', ...flags });
    const isSigned = 'digitalSignature' in flags;
    const wrong: string[] = [];
    const routes: [route: string, Expectations][] = [
      ['pages', pages],
      ['view', view],
      ['file', file],
    ];
    if (drawnShares.includes(name)) routes.push(['page', pages], ['thumbnail', pages]);
    for (const document of documents)
      for (const [route, expectations] of routes) {
        const response = await sendPath(postern, `${base}/${route}/${encodeURIComponent(document.name)}`);
        const [result, expected] = [resultOf(route, response, document), expectations[document.kind]];
        const what = `${route} ${document.name}`;
        if (!(typeof expected === 'string' ? [expected] : expected).includes(result)) wrong.push(`${what}: ${result}, not ${expected}`);
        if (result !== 'new' || (route === 'view' && file === markedFile)) continue; // the same file is checked as `file`
        await checkNewFile(response.bytes, isSigned && route === 'file').catch((cause: unknown) => wrong.push(`${what}: ${cause}`));
        const isCompared = hasPoppler && name === 'waterMarkText' && route === 'file' && document.name.endsWith('.pdf');
        if (!isCompared || drawnDifferently.includes(document.name)) continue;
        await checkLooks(response.bytes, document.bytes).catch((cause: unknown) => wrong.push(`${what}: ${cause}`));
      }
    assert.deepEqual(wrong, []);
    assert.equal((await postern.visit('/health/ready')).status, 200);
  });
