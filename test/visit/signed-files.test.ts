import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PDFDict, PDFDocument, PDFHexString, PDFName } from '@cantoo/pdf-lib';
import { isInstalled } from '../parts/is-installed.ts';
import { samplePdf, samplePhoto } from '../parts/sample-documents.ts';
import { pkcs12Password as password, startTimeStampAuthority, TestAuthority } from '../parts/signing-certificates.ts';
import { createToken, missingForToken } from '../parts/soft-hsm.ts';
import { zipContents } from '../parts/zip-contents.ts';
import { startPostern } from '../start.ts';
import { createShare, hour, sendPath, settableClock } from './visiting.ts';

const options = { skip: !isInstalled('openssl') || !isInstalled('pdfsig') || !isInstalled('qpdf') };
const reason = 'Approved: Größe 日本';

/** Publishes a folder whose PDF files are signed. */
async function shareSigned(t: TestContext, over: object = {}, settings: Readonly<Record<string, string>> = {}) {
  const clock = settableClock();
  const environment = { POSTERN_PRIVATE_TARGETS: '127.0.0.1', ...settings };
  const postern = await startPostern(t, { environment, replacements: { ports: { clock } } });
  const authority = await TestAuthority.create(t);
  await mkdir(join(postern.files, 'box'));
  const put = (name: string, bytes: Uint8Array | string) => writeFile(join(postern.files, 'box', name), bytes);
  const { base } = await createShare(postern, { path: '/box', digitalSignature: true, digitalSignReason: reason, ...over });
  const send = (path: string, method = 'GET', headers: Record<string, string> = {}) => sendPath(postern, base + path, { method, headers });
  const storeCertificate = (timestampUrl: string | null = null, key: 'ec' | 'rsa' = 'ec') =>
    postern.call('signature/update', { certificate: authority.pkcs12('signer', { key }), password, timestampUrl });
  clock.advance(hour); // so that certificates that are issued from now on are already valid by the clock of Postern
  /** Checks a file with other programs. @returns what pdfsig says of each signature */
  async function check(bytes: Buffer): Promise<readonly string[]> {
    const file = join(authority.folder, 'checked.pdf');
    await writeFile(file, bytes);
    assert.equal(spawnSync('qpdf', ['--check', file]).status, 0);
    const says = execFileSync('pdfsig', ['-nocert', file], { encoding: 'utf8' });
    return says.split(/^Signature #\d+:$/m).slice(1);
  }
  return { clock, postern, authority, put, send, storeCertificate, check };
}

for (const key of ['ec', 'rsa'] as const)
  test(`a PDF is downloaded with a valid signature (${key}) of the entire file, with the reason of the share`, options, async (t) => {
    const { authority, put, send, storeCertificate, check } = await shareSigned(t);
    await storeCertificate(null, key);
    const original = await samplePdf();
    await put('paper.pdf', original);
    const { status, headers, bytes } = await send('/file/paper.pdf', 'GET', { range: 'bytes=0-9' });
    assert.deepEqual([status, headers['content-type'], headers.etag], [200, 'application/pdf', undefined]);
    const [signature = '', ...others] = await check(bytes);
    assert.equal(others.length, 0);
    assert.match(signature, /Signature is Valid/);
    assert.match(signature, /Total document signed/);
    assert.match(signature, /ETSI\.CAdES\.detached/);
    assert.ok(bytes.subarray(0, original.length).equals(original), 'the signature is appended');
    await checkCms(authority, bytes);
    assert.doesNotMatch(printCms(authority), /signingTime/); // the signature dictionary of the PDF has the time
    assert.deepEqual(await reasonsOf(bytes), [reason]);
  });

for (const key of ['ec', 'rsa'] as const)
  test(`a PDF is signed with a key (${key}) that never leaves a PKCS #11 token; without the token, it is not sent`, {
    skip: options.skip || missingForToken() || false,
  }, async (t) => {
    const token = await createToken(t);
    const keys = { ...token.environment, POSTERN_PKCS11_KEYS: '1:0a, 1:0b' };
    const { authority, postern, put, send, check } = await shareSigned(t, {}, keys);
    authority.issue('holder', { key });
    const pem = (await readFile(join(authority.folder, 'holder.pem'))).toString('base64');
    token.importKey(join(authority.folder, 'holder.key'), '0a');
    await postern.call('signature/update', { certificate: pem, password: '', tokenKeyId: '0A' });
    assert.equal((await postern.call('signature/test')).works, true);
    await put('paper.pdf', await samplePdf());
    const { status, bytes } = await send('/file/paper.pdf');
    assert.equal(status, 200);
    assert.match((await check(bytes))[0] ?? '', /Total document signed[\s\S]*Signature is Valid/);
    await checkCms(authority, bytes);
    await token.remove();
    const refused = await send('/file/paper.pdf');
    assert.deepEqual([refused.status, refused.json.code], [503, 'signingUnavailable']);
    assert.match(refused.json.detail, /PKCS #11 token does not sign/);
    assert.ok(!refused.text.includes('1234'));
  });

/** Returns the signature that `checkCms` has checked, as openssl prints it. */
const printCms = ({ folder }: TestAuthority) =>
  execFileSync('openssl', ['cms', '-cmsout', '-print', '-inform', 'DER', '-in', 'signature.der'], { cwd: folder, encoding: 'utf8' });

/** Returns the reasons of the signatures of a PDF. */
async function reasonsOf(bytes: Buffer): Promise<(string | undefined)[]> {
  const { context } = await PDFDocument.load(bytes);
  const dictionaries = context.enumerateIndirectObjects().flatMap(([, object]) => (object instanceof PDFDict ? object : []));
  const signatures = dictionaries.filter((dictionary) => dictionary.has(PDFName.of('ByteRange')));
  return signatures.map((signature) => signature.lookupMaybe(PDFName.of('Reason'), PDFHexString)?.decodeText());
}

/** Checks the CMS signature of a file with openssl, also its chain up to the authority. */
async function checkCms({ folder }: TestAuthority, bytes: Buffer): Promise<void> {
  const ranges = [...bytes.toString('latin1').matchAll(/\/ByteRange \[\s*(\d+) (\d+) (\d+) (\d+)\s*\]/g)].at(-1);
  assert.ok(ranges);
  const [, , first = 0, second = 0, last = 0] = ranges.map(Number);
  await writeFile(join(folder, 'content'), Buffer.concat([bytes.subarray(0, first), bytes.subarray(second, second + last)]));
  const der = Buffer.from(bytes.subarray(first + 1, second - 1).toString('latin1'), 'hex');
  await writeFile(join(folder, 'signature.der'), der);
  execFileSync(
    'openssl',
    [
      'cms',
      '-verify',
      '-cades',
      '-binary',
      '-inform',
      'DER',
      '-in',
      'signature.der',
      '-content',
      'content',
      '-CAfile',
      'ca.pem',
      '-purpose',
      'any',
      '-out',
      'verified',
    ],
    { cwd: folder, stdio: 'pipe' },
  );
  assert.deepEqual(await readFile(join(folder, 'verified')), await readFile(join(folder, 'content')));
}

test('if a time-stamp authority is set, the signature contains a time stamp from this authority', options, async (t) => {
  const { authority, put, send, storeCertificate, check } = await shareSigned(t);
  const { url, state } = await startTimeStampAuthority(t, authority);
  await storeCertificate(url);
  await put('paper.pdf', await samplePdf());
  const { bytes } = await send('/file/paper.pdf');
  assert.equal(state.requests, 1);
  assert.match((await check(bytes))[0] ?? '', /Signature is Valid/);
  await checkCms(authority, bytes);
  assert.match(printCms(authority), /id-smime-aa-timeStampToken/);
});

test('if the time-stamp authority fails or its response is wrong, the PDF is not downloaded', options, async (t) => {
  const { authority, put, send, storeCertificate } = await shareSigned(t);
  const { url, state } = await startTimeStampAuthority(t, authority);
  await storeCertificate(url);
  await put('paper.pdf', await samplePdf());
  const first = await new Promise<Buffer>((resolve) => {
    state.change = (response) => {
      resolve(response);
      return response;
    };
    void send('/file/paper.pdf');
  });
  for (const change of [
    () => null,
    () => Buffer.from('no response'),
    () => first, // the response to another request
    (response: Buffer) => response.subarray(0, -1),
    (response: Buffer) => Buffer.concat([response.subarray(0, -20), Buffer.alloc(20)]), // another signature
  ]) {
    state.change = change;
    const { status, json, bytes } = await send('/file/paper.pdf');
    assert.deepEqual([status, json.code], [503, 'signingUnavailable'], `${change}`);
    assert.match(json.detail, /time-stamp authority/);
    assert.ok(!bytes.includes('%PDF'));
  }
});

test('earlier signatures of a PDF stay valid', options, async (t) => {
  const { put, send, storeCertificate, check } = await shareSigned(t);
  await storeCertificate();
  await put('paper.pdf', await samplePdf());
  const { bytes } = await send('/file/paper.pdf');
  await put('signed.pdf', bytes);
  const signatures = await check((await send('/file/signed.pdf')).bytes);
  assert.equal(signatures.length, 2);
  for (const signature of signatures) assert.match(signature, /Signature is Valid/);
});

test('a damaged PDF is written anew before it is signed', options, async (t) => {
  const { put, send, storeCertificate, check } = await shareSigned(t);
  await storeCertificate();
  const damaged = (await samplePdf()).toString('latin1').replace(/startxref\s+\d+/, 'startxref\n12345');
  await put('damaged.pdf', Buffer.from(damaged, 'latin1'));
  assert.match((await check((await send('/file/damaged.pdf')).bytes))[0] ?? '', /Total document signed[\s\S]*Signature is Valid/);
});

/** Returns a PDF whose first signature forbids every later change. */
async function certifiedPdf(): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  document.addPage();
  const { context, catalog } = document;
  const parameters = context.obj({ Type: 'TransformParams', P: 1, V: '1.2' });
  const signature = context.obj({ Type: 'Sig', Reference: [{ Type: 'SigRef', TransformMethod: 'DocMDP', TransformParams: parameters }] });
  catalog.set(PDFName.of('Perms'), context.obj({ DocMDP: context.register(signature) }));
  return document.save();
}

/** Returns a PDF that is encrypted, with a password for its owner and perhaps one for its readers. */
async function encryptedPdf({ folder }: TestAuthority, readerPassword: string): Promise<Buffer> {
  await writeFile(join(folder, 'plain.pdf'), await samplePdf());
  execFileSync('qpdf', ['--encrypt', readerPassword, 'owner', '256', '--', 'plain.pdf', 'encrypted.pdf'], { cwd: folder });
  return readFile(join(folder, 'encrypted.pdf'));
}

test(
  'a PDF that is encrypted or damaged beyond repair, or that a signature protects from every change, is refused with the reason',
  options,
  async (t) => {
    const { authority, put, send, storeCertificate } = await shareSigned(t);
    await storeCertificate();
    const encrypted = 'The file is encrypted.';
    for (const [bytes, detail] of [
      [await encryptedPdf(authority, ''), encrypted],
      [await encryptedPdf(authority, 'secret'), encrypted],
      [await certifiedPdf(), 'A signature in the file forbids every change.'],
      ['%PDF-1.4\n%%EOF', 'The file is damaged, or its format is not supported.'],
    ] as const) {
      await put('refused.pdf', bytes);
      const { status, json } = await send('/file/refused.pdf');
      assert.deepEqual([status, json.code, json.detail], [403, 'cannotBeSigned', detail]);
    }
  },
);

test(
  'with a watermark, a PDF is marked first and then signed, even if the original is encrypted with a password that readers do not need',
  options,
  async (t) => {
    const { authority, put, send, storeCertificate, check } = await shareSigned(t, { waterMarkText: 'For {ip}' });
    await storeCertificate();
    for (const bytes of [await samplePdf(), await encryptedPdf(authority, '')]) {
      await put('paper.pdf', bytes);
      const answer = await send('/file/paper.pdf');
      assert.match((await check(answer.bytes))[0] ?? '', /Total document signed[\s\S]*Signature is Valid/);
      assert.ok(!answer.bytes.includes('attached.txt'));
    }
  },
);

test(
  'in an archive, PDF files are signed, other files are unchanged, and a list names the PDF files that cannot be signed',
  options,
  async (t) => {
    const { authority, put, send, storeCertificate, check } = await shareSigned(t);
    await storeCertificate();
    const photo = await samplePhoto();
    await put('paper.pdf', await samplePdf());
    await put('photo.jpg', photo);
    await put('words.txt', 'words');
    await put('encrypted.pdf', await encryptedPdf(authority, 'secret'));
    const contents = await zipContents((await send('/zip')).bytes);
    assert.deepEqual(Object.keys(contents).sort(), ['Files left out.txt', 'paper.pdf', 'photo.jpg', 'words.txt']);
    assert.match((await check(contents['paper.pdf'] ?? Buffer.alloc(0)))[0] ?? '', /Signature is Valid/);
    assert.ok(contents['photo.jpg']?.equals(photo));
    assert.match(contents['Files left out.txt']?.toString() ?? '', /encrypted\.pdf\r\n {2}It cannot be signed/);
  },
);

test('without a valid certificate, no PDF is downloaded, and other files are downloaded as usual', options, async (t) => {
  const { clock, put, send, storeCertificate } = await shareSigned(t);
  await put('paper.txt', await samplePdf()); // its bytes are those of a PDF
  await put('words.pdf', 'words');
  const check = async (detail: string) => {
    for (const path of ['/file/paper.txt', '/zip', '/zip?name=paper.txt'])
      for (const headers of [{}, { range: 'bytes=0-9' }, { 'if-none-match': '*' }]) {
        const { status, json } = await send(path, 'GET', headers);
        assert.deepEqual([status, json.code, json.detail], [503, 'signingUnavailable', detail], path);
      }
    assert.equal((await send('/file/words.pdf')).text, 'words');
    assert.deepEqual(Object.keys(await zipContents((await send('/zip?name=words.pdf')).bytes)), ['words.pdf']);
    assert.equal((await send('/view/paper.txt')).status, 200);
  };
  await check('No certificate for digital signatures is stored.');
  await storeCertificate();
  assert.equal((await send('/file/paper.txt')).status, 200);
  clock.advance(366 * 24 * hour);
  await check('The certificate for digital signatures has expired.');
});
