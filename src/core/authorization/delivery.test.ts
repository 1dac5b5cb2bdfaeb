import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { type ContentKind, type DeliveryRequest, deliver, requiresWatermark } from './delivery.ts';
import type { Protection } from './share-rules.ts';

const kinds: readonly ContentKind[] = ['pdf', 'image', 'office', 'audio', 'video', 'text', 'other'];
const drawnKinds: readonly ContentKind[] = ['pdf', 'image'];
const otherKinds = kinds.filter((kind) => kind !== 'office' && !drawnKinds.includes(kind));
const requests: readonly DeliveryRequest[] = ['view', 'pages', 'download', 'downloadFolder'];
/** In the order of the columns of the documented table. */
const documentedRequests: readonly DeliveryRequest[] = ['view', 'pages', 'text', 'download', 'downloadFolder'];
const unprotected: Protection = { copyProtect: false, copyProtectText: false, waterMarkText: '', digitalSignature: false };
const protectedCopy = { ...unprotected, copyProtect: true };
const marked = { ...unprotected, waterMarkText: '{user}' };

/** Returns the form of a file, or why it is not sent. */
function resultOf(request: DeliveryRequest, protection: Protection, kind: ContentKind): string {
  const delivery = deliver(request, protection, kind);
  return 'form' in delivery ? delivery.form : delivery.denial;
}

/** Returns the results for view, pages, download and downloadFolder. */
const results = (protection: Protection, kind: ContentKind) => requests.map((request) => resultOf(request, protection, kind));

test('an unprotected file is sent as it is if it can be viewed or is downloaded; pages of PDF files and images have no mark', () => {
  for (const kind of drawnKinds) assert.deepEqual(results(unprotected, kind), ['original', 'pages', 'original', 'original']);
  for (const kind of ['audio', 'video', 'text'] as const)
    assert.deepEqual(results(unprotected, kind), ['original', 'hasNoPages', 'original', 'original']);
  assert.deepEqual(results(unprotected, 'other'), ['cannotBeViewed', 'hasNoPages', 'original', 'original']);
});

test('with copyProtect alone, visitors see marked pages of PDF files and images, and nothing of files without pages', () => {
  for (const kind of drawnKinds)
    assert.deepEqual(results(protectedCopy, kind), ['copyProtected', 'markedPages', 'copyProtected', 'copyProtected']);
  for (const kind of otherKinds)
    assert.deepEqual(results(protectedCopy, kind), ['cannotBeMarked', 'cannotBeMarked', 'copyProtected', 'copyProtected']);
});

test('with a watermark, PDF files and images are sent with the mark, and files without pages are not sent', () => {
  for (const kind of drawnKinds) assert.deepEqual(results(marked, kind), ['marked', 'markedPages', 'marked', 'marked']);
  for (const kind of otherKinds)
    assert.deepEqual(
      results(marked, kind),
      requests.map(() => 'cannotBeMarked'),
    );
});

test('Office documents are viewed only as pages, marked if needed, and downloaded only if they need no mark', () => {
  assert.deepEqual(results(unprotected, 'office'), ['cannotBeViewed', 'pages', 'original', 'original']);
  assert.deepEqual(results(protectedCopy, 'office'), ['cannotBeMarked', 'markedPages', 'copyProtected', 'copyProtected']);
  assert.deepEqual(results(marked, 'office'), ['cannotBeMarked', 'markedPages', 'cannotBeMarked', 'cannotBeMarked']);
});

test('the text of pages can be read where no watermark is needed, and otherwise only with copyProtectText', () => {
  for (const kind of [...drawnKinds, 'office'] as const) {
    assert.equal(resultOf('text', unprotected, kind), 'text');
    for (const protection of [protectedCopy, marked, { ...marked, copyProtect: true }]) {
      assert.equal(resultOf('text', protection, kind), 'copyProtected');
      assert.equal(resultOf('text', { ...protection, copyProtectText: true }, kind), 'text');
    }
  }
  for (const kind of otherKinds) {
    assert.equal(resultOf('text', unprotected, kind), 'hasNoPages');
    assert.equal(resultOf('text', { ...protectedCopy, copyProtectText: true }, kind), 'cannotBeMarked');
  }
});

test('with a watermark and copyProtect, a PDF file or image can be downloaded with the mark, but is viewed only as pages', () => {
  for (const kind of drawnKinds)
    assert.deepEqual(results({ ...marked, copyProtect: true }, kind), ['copyProtected', 'markedPages', 'marked', 'marked']);
});

test('a PDF file that must be signed is marked if needed and then signed for a download, and viewed without a signature', () => {
  const signed = { ...unprotected, digitalSignature: true };
  assert.deepEqual(results(signed, 'pdf'), ['original', 'pages', 'signed', 'signed']);
  for (const kind of kinds.filter((kind) => kind !== 'pdf')) assert.deepEqual(results(signed, kind), results(unprotected, kind));
  assert.deepEqual(results({ ...marked, digitalSignature: true }, 'pdf'), ['marked', 'markedPages', 'markedAndSigned', 'markedAndSigned']);
  assert.deepEqual(results({ ...protectedCopy, digitalSignature: true }, 'pdf'), results(protectedCopy, 'pdf'));
});

const anyProtection = fc.record({
  copyProtect: fc.boolean(),
  copyProtectText: fc.boolean(),
  waterMarkText: fc.constantFrom('', ' ', 'draft'),
  digitalSignature: fc.boolean(),
});

test('the original of a file that needs a watermark is never sent, and its pages are never sent without the mark', () =>
  fc.assert(
    fc.property(anyProtection, fc.constantFrom(...requests), fc.constantFrom(...kinds), (protection, request, kind) => {
      const result = resultOf(request, protection, kind);
      if (requiresWatermark(protection)) assert.ok(result !== 'original' && result !== 'pages', result);
    }),
  ));

test('additional protection never allows the original of a file whose original was refused', () =>
  fc.assert(
    fc.property(anyProtection, fc.constantFrom(...requests), fc.constantFrom(...kinds), (protection, request, kind) => {
      if (resultOf(request, protection, kind) === 'original') return;
      for (const more of [{ copyProtect: true }, { waterMarkText: 'draft' }, { digitalSignature: true }])
        assert.notEqual(resultOf(request, { ...protection, ...more }, kind), 'original');
    }),
  ));

const accessRules = readFileSync(join(import.meta.dirname, '../../../docs/integrator/access-rules.md'), 'utf8');
const documentedShares: Readonly<Record<string, Protection>> = {
  'no protection': unprotected,
  '`copyProtect`': protectedCopy,
  '`waterMarkText`': marked,
  both: { ...marked, copyProtect: true },
};
const documentedKinds: Readonly<Record<string, readonly ContentKind[]>> = {
  PDF: ['pdf'],
  image: ['image'],
  'Office document': ['office'],
  'audio, video, text': ['audio', 'video', 'text'],
  'any other': ['other'],
};
const documentedForms: Readonly<Record<string, string>> = {
  'the file': 'original',
  'the pages': 'pages',
  'the pages, marked': 'markedPages',
  'the text': 'text',
  'marked file': 'marked',
};
const signedForms: Readonly<Record<string, string>> = { original: 'signed', marked: 'markedAndSigned' };

/** Returns what the documentation says of a share with `digitalSignature` or `copyProtectText`, from the form without it. */
function documentedWith(protection: Protection, request: DeliveryRequest, kind: ContentKind, form = ''): string {
  if (request === 'text' && form === 'copyProtected' && protection.copyProtectText) return 'text';
  const isSigned = protection.digitalSignature && kind === 'pdf' && (request === 'download' || request === 'downloadFolder');
  return (isSigned ? signedForms[form] : undefined) ?? form;
}

/** Returns the cells of each row of the table in the section "Protected files". */
function documentedTable(): readonly string[][] {
  const [, section = ''] = accessRules.split('## Protected files');
  const rows = section.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| Share'));
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

test('every kind of file is sent in the forms that the documentation lists, for every combination of flags', () => {
  const table = documentedTable();
  const documented = table.flatMap(([share = '', names = '']) => names.split(' or ').map((name) => `${share} ${name}`));
  const expected = Object.keys(documentedShares).flatMap((share) => Object.keys(documentedKinds).map((name) => `${share} ${name}`));
  assert.deepEqual(documented.sort(), expected.sort());
  for (const [share = '', names = '', ...cells] of table) {
    const forms = cells.map((cell) => documentedForms[cell] ?? /`(\w+)`/.exec(cell)?.[1]);
    for (const kind of names.split(' or ').flatMap((name) => documentedKinds[name] ?? []))
      for (const digitalSignature of [false, true])
        for (const copyProtectText of [false, true]) {
          const protection = { ...(documentedShares[share] ?? unprotected), digitalSignature, copyProtectText };
          assert.deepEqual(
            documentedRequests.map((request) => resultOf(request, protection, kind)),
            documentedRequests.map((request, index) => documentedWith(protection, request, kind, forms[index])),
            `${share} ${kind} ${digitalSignature} ${copyProtectText}`,
          );
        }
  }
});
