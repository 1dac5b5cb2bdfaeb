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

const [hasQpdf, hasPdfsig] = [isInstalled('qpdf'), isInstalled('pdfsig')];
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

/** Some combinations of flags, and what `pages`, `view` and `file` send with each. */
const shares: readonly [name: string, flags: object, pages: Expectations, view: Expectations, file: Expectations][] = [
  ['no protection', {}, expectationsOf('pages', noPages), { ...all('original'), other: ['415 cannotBeViewed'] }, all('original')],
  [
    'copyProtect',
    { copyProtect: true },
    expectationsOf('pages', notMarked),
    expectationsOf(['403 copyProtected'], notMarked, { unreadable: ['403 copyProtected'], unreadableImage: ['403 copyProtected'] }),
    copyProtected,
  ],
  [
    'waterMarkText',
    { waterMarkText: 'For {ip}' },
    expectationsOf('pages', notMarked),
    expectationsOf('new', notMarked),
    expectationsOf('new', notMarked),
  ],
  [
    'copyProtect and waterMarkText',
    { copyProtect: true, waterMarkText: 'For {ip}' },
    expectationsOf('pages', notMarked),
    expectationsOf(['403 copyProtected'], notMarked, { unreadable: ['403 copyProtected'], unreadableImage: ['403 copyProtected'] }),
    expectationsOf('new', notMarked),
  ],
  [
    'digitalSignature',
    { digitalSignature: true },
    expectationsOf('pages', noPages),
    { ...all('original'), other: ['415 cannotBeViewed'] },
    expectationsOf('new', [], signedOnly),
  ],
  [
    'waterMarkText and digitalSignature',
    { waterMarkText: 'For {ip}', digitalSignature: true },
    expectationsOf('pages', notMarked),
    expectationsOf('new', notMarked),
    expectationsOf('new', notMarked),
  ],
];

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
  if (isSigned && hasPdfsig) assert.match(execFileSync('pdfsig', ['-nocert', path], { encoding: 'utf8' }), /Signature is Valid/);
}

/** Returns what a response is: the original, a new file, the pages, or a refusal. */
function resultOf(response: RawResponse, { bytes }: CorpusDocument): string {
  if (response.status !== 200) return `${response.status} ${response.json?.code}`;
  if (response.json?.totalCount > 0) return 'pages';
  return response.bytes.equals(bytes) ? 'original' : 'new';
}

async function startWithCorpus(t: TestContext): Promise<TestPostern> {
  const postern = await startPostern(t);
  await mkdir(join(postern.files, 'corpus'));
  for (const { name, bytes } of corpus) await writeFile(join(postern.files, 'corpus', name), bytes);
  await postern.call('signature/update', { certificate: certificateFile, password: certificatePassword });
  return postern;
}

for (const [name, flags, pages, view, file] of shares)
  test(`each document of the corpus is sent in the right form, or refused: ${name}`, async (t) => {
    assert.ok(corpus.length >= 60);
    const postern = await startWithCorpus(t);
    const { base } = await createShare(postern, { path: '/corpus', ...flags });
    const isSigned = 'digitalSignature' in flags;
    const wrong: string[] = [];
    for (const document of corpus)
      for (const [route, expectations] of [
        ['pages', pages],
        ['view', view],
        ['file', file],
      ] as const) {
        const response = await sendPath(postern, `${base}/${route}/${encodeURIComponent(document.name)}`);
        const [result, expected] = [resultOf(response, document), expectations[document.kind]];
        const what = `${route} ${document.name}`;
        if (!(typeof expected === 'string' ? [expected] : expected).includes(result)) wrong.push(`${what}: ${result}, not ${expected}`);
        if (result !== 'new') continue;
        await checkNewFile(response.bytes, isSigned && route === 'file').catch((cause: unknown) => wrong.push(`${what}: ${cause}`));
      }
    assert.deepEqual(wrong, []);
    assert.equal((await postern.visit('/health/ready')).status, 200);
  });
