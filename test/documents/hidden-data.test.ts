import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import {
  decodePDFRawStream,
  PDFArray,
  PDFDict,
  PDFDocument,
  PDFName,
  type PDFObject,
  type PDFPage,
  PDFRawStream,
  PDFString,
} from '@cantoo/pdf-lib';
import sharp from 'sharp';
import { startPostern } from '../start.ts';
import { createShare, sendPath } from '../visit/visiting.ts';

async function pdf(change: (document: PDFDocument, page: PDFPage) => void): Promise<Buffer> {
  const document = await PDFDocument.create();
  const page = document.addPage([300, 400]);
  page.drawText('Seen', { x: 20, y: 200, size: 14 });
  change(document, page);
  return Buffer.from(await document.save({ useObjectStreams: false }));
}

/** Shares a PDF with a watermark. @returns the PDF that is downloaded */
async function downloadMarked(t: TestContext, bytes: Buffer): Promise<PDFDocument> {
  const postern = await startPostern(t);
  await writeFile(join(postern.files, 'paper.pdf'), bytes);
  const { base } = await createShare(postern, { waterMarkText: 'For {ip}' });
  const response = await sendPath(postern, `${base}/file/paper.pdf`);
  assert.equal(response.status, 200);
  return PDFDocument.load(response.bytes, { updateMetadata: false });
}

const contentOf = (stream: PDFRawStream) => Buffer.from(decodePDFRawStream(stream).decode()).toString('latin1');

/** Returns all text of a PDF, also that of compressed streams. */
function textIn({ context }: PDFDocument): string {
  return context
    .enumerateIndirectObjects()
    .map(([, object]) => (object instanceof PDFRawStream ? `${object.dict}\n${contentOf(object)}` : `${object}`))
    .join('\n');
}

/** Adds data that is not drawn. Each piece contains the word HIDDEN. */
function addHiddenData(document: PDFDocument, page: PDFPage): void {
  const { context, catalog } = document;
  const stream = (text: string, dictionary = {}) => context.register(context.stream(Buffer.from(text), dictionary));
  const text = (value: string) => PDFString.of(value);
  const set = (dictionary: PDFDict, entry: string, value: PDFObject) => dictionary.set(PDFName.of(entry), value);
  document.setTitle('HIDDEN title');
  set(catalog, 'OpenAction', context.obj({ S: 'JavaScript', JS: text('HIDDEN script at the start') }));
  set(catalog, 'Metadata', stream('HIDDEN metadata of the document', { Type: 'Metadata', Subtype: 'XML' }));
  set(page.node, 'Metadata', stream('HIDDEN metadata of the page', { Type: 'Metadata', Subtype: 'XML' }));
  set(page.node, 'Thumb', stream('HIDDEN thumbnail'.padEnd(48), { Width: 4, Height: 4, ColorSpace: 'DeviceRGB' }));
  set(page.node, 'AA', context.obj({ O: { S: 'JavaScript', JS: text('HIDDEN script of the page') } }));
  set(page.node, 'PieceInfo', context.obj({ Editor: { LastModified: text('D:2020'), Private: stream('HIDDEN data of an editor') } }));
  set(page.node, 'AF', context.obj([context.obj({ Type: 'Filespec', F: text('HIDDEN.txt') })]));
  const file = context.obj({ Type: 'Filespec', F: text('HIDDEN.txt'), EF: { F: stream('HIDDEN file', { Type: 'EmbeddedFile' }) } });
  for (const annotation of [
    { Subtype: 'FileAttachment', F: 2, FS: context.register(file) },
    { Subtype: 'Popup', Contents: text('HIDDEN note') },
    { Subtype: 'Link', A: { S: 'JavaScript', JS: text('HIDDEN script of a link') } },
  ])
    page.node.addAnnot(context.register(context.obj({ Type: 'Annot', Rect: [10, 10, 30, 30], ...annotation })));
  const form = { Type: 'XObject', Subtype: 'Form', BBox: [0, 0, 9, 9], PieceInfo: { Editor: { Private: text('HIDDEN data of a form') } } };
  page.node.setXObject(PDFName.of('Ref'), stream('0 0 9 9 re f', form)); // a name that also is an entry of forms
  page.node.Resources()?.set(PDFName.of('Properties'), context.obj({ Data: { Note: text('HIDDEN property') } }));
  page.node.addContentStream(stream('/Ref Do /Note /Data BDC 0 0 5 5 re f EMC'));
}

test('a marked PDF contains no annotations, scripts, attachments, thumbnails, metadata or data of other programs', async (t) => {
  const original = await pdf(addHiddenData);
  assert.equal(textIn(await PDFDocument.load(original, { updateMetadata: false })).match(/HIDDEN/g)?.length, 13); // the title is written in another encoding
  const marked = await downloadMarked(t, original);
  const text = textIn(marked);
  assert.doesNotMatch(text, /HIDDEN/);
  assert.match(text, /0 0 9 9 re f/); // what is drawn stays
  assert.match(text, /\/Ref \d+ 0 R/);
  assert.equal(marked.getTitle(), undefined);
});

/** Draws a square in each of five layers, of which all but `shown` are hidden, each in another way, and a note in a hidden one. */
function addLayers({ context, catalog }: PDFDocument, page: PDFPage): void {
  const layer = (name: string, usage = {}) => context.register(context.obj({ Type: 'OCG', Name: PDFString.of(name), ...usage }));
  const hiddenOnScreen = { Usage: { View: { ViewState: 'OFF' } } };
  const [shown, byBaseState, listed, byUsage] = [layer('shown'), layer('base'), layer('listed'), layer('usage', hiddenOnScreen)];
  const untyped = context.register(context.obj({ Name: PDFString.of('untyped') }));
  const configuration = {
    ...{ BaseState: 'OFF', ON: [shown, byUsage, listed], OFF: [listed, untyped] },
    AS: [{ Event: 'View', Category: ['View'], OCGs: [byUsage] }],
  };
  catalog.set(PDFName.of('OCProperties'), context.obj({ OCGs: [shown, byBaseState, listed, byUsage, untyped], D: configuration }));
  page.node.Resources()?.set(PDFName.of('Properties'), context.obj({ L0: shown, L1: byBaseState, L2: listed, L3: byUsage, Ref: untyped }));
  const squares = ['L0', 'L1', 'L2', 'L3', 'Ref'].map((name, index) => `/OC /${name} BDC ${index * 60} 0 50 50 re f EMC`).join('\n');
  page.node.addContentStream(context.register(context.stream(squares)));
  const appearance = context.register(context.stream('0 0 50 50 re f % NOTE', { Type: 'XObject', Subtype: 'Form', BBox: [0, 0, 50, 50] }));
  const member = context.obj({ Type: 'OCMD', OCGs: [listed, byUsage] });
  for (const [index, OC] of [listed, member].entries()) {
    const note = { Type: 'Annot', Subtype: 'Stamp', Rect: [index * 60, 300, index * 60 + 50, 350], OC, AP: { N: appearance } };
    page.node.addAnnot(context.register(context.obj(note)));
  }
}

test('layers that are hidden in a PDF stay hidden in its marked copy, and the others are shown', async (t) => {
  const marked = await downloadMarked(t, await pdf(addLayers));
  const properties = marked.catalog.lookup(PDFName.of('OCProperties'), PDFDict);
  const namesIn = (dictionary: PDFDict, entry: string) => {
    const layers = dictionary.lookup(PDFName.of(entry), PDFArray);
    return layers.asArray().map((_, index) => layers.lookup(index, PDFDict).lookup(PDFName.of('Name'), PDFString).decodeText());
  };
  assert.deepEqual(namesIn(properties, 'OCGs').sort(), ['base', 'listed', 'shown', 'untyped', 'usage']);
  assert.deepEqual(namesIn(properties.lookup(PDFName.of('D'), PDFDict), 'OFF').sort(), ['base', 'listed', 'untyped', 'usage']);
  assert.doesNotMatch(textIn(marked), /NOTE|PosternHidden/);
});

test('the picture of a page shows nothing of hidden layers, not even their annotations', async (t) => {
  const postern = await startPostern(t);
  await writeFile(join(postern.files, 'paper.pdf'), await pdf(addLayers));
  const { base } = await createShare(postern);
  const { status, bytes } = await sendPath(postern, `${base}/page/paper.pdf?width=300`);
  assert.equal(status, 200);
  const darkest = async (left: number, top: number) =>
    (await sharp(await sharp(bytes).extract({ left, top, width: 50, height: 50 }).toBuffer()).stats()).channels[0]?.min ?? 0;
  assert.ok((await darkest(0, 350)) < 50); // the layer that is shown
  for (const left of [60, 120, 180, 240]) assert.ok((await darkest(left, 350)) > 200, `layer at ${left}`);
  for (const left of [0, 60]) assert.ok((await darkest(left, 50)) > 200, `annotation at ${left}`);
});

test('the content of a page stays whole in its marked copy, however it is compressed', async (t) => {
  const rows = Buffer.from('0 0 50 50 re f  '.repeat(4)); // rows of 16 bytes, each with the number of its predictor (0: none) before it
  const predicted = Buffer.concat([0, 16, 32, 48].flatMap((start) => [Buffer.from([0]), rows.subarray(start, start + 16)]));
  const marked = await downloadMarked(
    t,
    await pdf(({ context }, page) => {
      const filter = { Filter: 'FlateDecode', DecodeParms: { Predictor: 12, Columns: 16 } };
      page.node.set(PDFName.of('Contents'), context.register(context.stream(deflateSync(predicted), filter)));
    }),
  );
  assert.match(textIn(marked), /(0 0 50 50 re f {2}){4}|\/Predictor 12/);
});
