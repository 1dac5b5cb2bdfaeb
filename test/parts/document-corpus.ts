import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { degrees, PDFDocument, type PDFImage, PDFName, type PDFPage, PDFString, StandardFonts } from '@cantoo/pdf-lib';
import sharp, { type Sharp } from 'sharp';
import { MarkFonts } from '#adapters/documents/mark/fonts.ts';
import { marksAlone } from '#adapters/documents/mark/mark-pdf.ts';
import { outlineText } from '#adapters/documents/mark/text-outline.ts';
import { sampleText } from './sample-documents.ts';

/**
 * What can be done with a document. document: everything. image: as `document`, but it is never signed. unsignable: it is drawn and marked,
 * but not signed. unreadable: a PDF that is neither drawn, marked nor signed. unreadableImage: an image that is neither drawn nor marked.
 * playable: it is viewed, but has no pages. other: it is only downloaded.
 */
export type CorpusKind = 'document' | 'unsignable' | 'unreadable' | 'image' | 'unreadableImage' | 'playable' | 'other';

/** A document of the corpus. */
export interface CorpusDocument {
  readonly name: string;
  readonly kind: CorpusKind;
  readonly bytes: Buffer;
}

/** Returns a PDF. @param build changes it; by default it has one page with a text */
async function pdf(build: (document: PDFDocument, page: PDFPage) => unknown = () => {}, useObjectStreams = false): Promise<Buffer> {
  const document = await PDFDocument.create();
  const page = document.addPage([300, 400]);
  page.drawText(sampleText, { x: 20, y: 200, size: 14 });
  await build(document, page);
  return Buffer.from(await document.save({ useObjectStreams }));
}

/** Changes a PDF as text. */
const edit = (bytes: Buffer, change: (text: string) => string): Buffer => Buffer.from(change(bytes.toString('latin1')), 'latin1');

/** Runs qpdf on a PDF. */
function qpdf(folder: string, bytes: Buffer, parameters: readonly string[]): Buffer {
  const [input, output] = [join(folder, 'in.pdf'), join(folder, 'out.pdf')];
  writeFileSync(input, bytes);
  execFileSync('qpdf', [...parameters, input, output]);
  return readFileSync(output);
}

const box = (page: PDFPage, name: string, ...values: number[]) => page.node.set(PDFName.of(name), page.doc.context.obj(values));

function addButton(document: PDFDocument, page: PDFPage): void {
  const form = document.getForm();
  form.createTextField('name').addToPage(page, { x: 20, y: 100, width: 200, height: 30 });
  form.getTextField('name').setText('Filled in');
  form.createCheckBox('agreed').addToPage(page, { x: 20, y: 60, width: 20, height: 20 });
  form.getCheckBox('agreed').check();
}

/** Adds an annotation without an appearance. */
function annotate(document: PDFDocument, page: PDFPage, over: object): void {
  const { context } = document;
  page.node.addAnnot(context.register(context.obj({ Type: 'Annot', Subtype: 'Square', Rect: [10, 10, 90, 90], C: [1, 0, 0], ...over })));
}

/** Adds a square to the page, in a layer that is off. */
function addLayer(document: PDFDocument, page: PDFPage): void {
  const { context, catalog } = document;
  const layer = context.register(context.obj({ Type: 'OCG', Name: PDFString.of('Hidden') }));
  catalog.set(PDFName.of('OCProperties'), context.obj({ OCGs: [layer], D: { OFF: [layer], Order: [layer] } }));
  page.node.Resources()?.set(PDFName.of('Properties'), context.obj({ L: layer }));
  page.node.addContentStream(context.register(context.stream('/OC /L BDC 0 0 100 100 re f EMC')));
}

const addContent = (content: string) => (document: PDFDocument, page: PDFPage) =>
  page.node.addContentStream(document.context.register(document.context.stream(content)));

/** Draws an image on the page. */
const withImage = (embed: (document: PDFDocument) => Promise<PDFImage>) => async (document: PDFDocument, page: PDFPage) =>
  page.drawImage(await embed(document), { x: 10, y: 10, width: 100, height: 100 });

/** Draws an image of 2 x 2 pixels whose samples are in the PDF without compression. */
const withSamples = (colors: string, bits: number, bytes: Buffer) => (document: PDFDocument, page: PDFPage) => {
  const { context } = document;
  const dictionary = { Type: 'XObject', Subtype: 'Image', Width: 2, Height: 2, ColorSpace: colors, BitsPerComponent: bits };
  page.node.setXObject(PDFName.of('Im'), context.register(context.stream(bytes, dictionary)));
  page.node.addContentStream(context.register(context.stream('q 90 0 0 90 10 10 cm /Im Do Q')));
};

function certify({ context, catalog }: PDFDocument, allowed: number): void {
  const parameters = context.obj({ Type: 'TransformParams', P: allowed, V: '1.2' });
  const reference = { Type: 'SigRef', TransformMethod: 'DocMDP', TransformParams: parameters };
  catalog.set(PDFName.of('Perms'), context.obj({ DocMDP: context.register(context.obj({ Type: 'Sig', Reference: [reference] })) }));
}

async function pdfDocuments(): Promise<[string, CorpusKind, Buffer][]> {
  const plain = await pdf();
  const rotated = (angle: number) => pdf((_document, page) => page.setRotation(degrees(angle)));
  return [
    ['plain', 'document', plain],
    ['rotated by 90', 'document', await rotated(90)],
    ['rotated by 180', 'document', await rotated(180)],
    ['rotated by 270', 'document', await rotated(270)],
    ['rotated by -90', 'document', await rotated(-90)],
    ['cropped', 'document', await pdf((_document, page) => page.setCropBox(50, 50, 100, 120))],
    ['cropped outside of its page', 'document', await pdf((_document, page) => page.setCropBox(200, 300, 900, 900))],
    ['negative origin', 'document', await pdf((_document, page) => box(page, 'MediaBox', -150, -200, 150, 200))],
    ['corners in another order', 'document', await pdf((_document, page) => box(page, 'MediaBox', 300, 400, 0, 0))],
    ['user unit', 'document', await pdf((document, page) => page.node.set(PDFName.of('UserUnit'), document.context.obj(2)))],
    ['huge page', 'document', await pdf((_document, page) => page.setSize(14_400, 14_400))],
    ['tiny page', 'document', await pdf((_document, page) => page.setSize(3, 3))],
    ['long narrow page', 'document', await pdf((_document, page) => page.setSize(20, 5000))],
    ['1,000 pages', 'document', await pdf((document) => Array.from({ length: 999 }, () => document.addPage([200, 200])))],
    ['pages of many sizes', 'document', await pdf((document) => [1, 2, 3].map((size) => document.addPage([100 * size, 150 * size])))],
    ['page without content', 'document', await pdf((_document, page) => page.node.delete(PDFName.of('Contents')))],
    ['page without resources', 'document', await pdf((_document, page) => page.node.delete(PDFName.of('Resources')))],
    ['fields that are filled in', 'document', await pdf(addButton)],
    ['attachment', 'document', await pdf((document) => document.attach(Buffer.from(sampleText), 'a.txt', { mimeType: 'text/plain' }))],
    ['script', 'document', await pdf((document) => document.addJavaScript('main', 'app.alert("opened")'))],
    ['annotation without appearance', 'document', await pdf((document, page) => annotate(document, page, {}))],
    [
      'link',
      'document',
      await pdf((document, page) => annotate(document, page, { Subtype: 'Link', A: { S: 'URI', URI: PDFString.of('http://x.test/') } })),
    ],
    ['hidden annotation', 'document', await pdf((document, page) => annotate(document, page, { F: 2 }))],
    ['layer that is off', 'document', await pdf(addLayer)],
    ['too many restores', 'document', await pdf(addContent('Q Q Q 0.05 0 0 0.05 0 0 cm q q q'))],
    ['clipped to nothing', 'document', await pdf(addContent('0 0 0 0 re W n'))],
    ['unknown operators', 'document', await pdf(addContent('1 2 foo << /a /b >> bar (text) Tj'))],
    ['unfinished content', 'document', await pdf(addContent('BT /F1 12 Tf (never ended'))],
    ['deep graphics states', 'document', await pdf(addContent('q '.repeat(20_000)))],
    ['image in four colours', 'document', await pdf(withSamples('DeviceCMYK', 8, Buffer.alloc(16, 0x80)))],
    ['image with 16 bits', 'document', await pdf(withSamples('DeviceRGB', 16, Buffer.alloc(24, 0x7f)))],
    ['image with too few samples', 'document', await pdf(withSamples('DeviceRGB', 8, Buffer.alloc(2)))],
    ['JPEG in a page', 'document', await pdf(withImage(async (document) => document.embedJpg(await solid().jpeg().toBuffer())))],
    ['PNG with alpha in a page', 'document', await pdf(withImage(async (document) => document.embedPng(await solid(4).png().toBuffer())))],
    ['object streams', 'document', await pdf(() => {}, true)],
    [
      'standard fonts',
      'document',
      await pdf(async (document, page) => page.drawText('Ω α', { font: await document.embedFont(StandardFonts.Symbol) })),
    ],
    [
      'right to left',
      'document',
      await pdf((document) => document.catalog.set(PDFName.of('ViewerPreferences'), document.context.obj({ Direction: 'R2L' }))),
    ],
    [
      'Arabic text',
      'document',
      Buffer.from(await marksAlone(outlineText('تقرير سنوي 2026', new MarkFonts()), { width: 300, height: 400 })),
    ],
    ['newer version', 'document', edit(plain, (text) => text.replace(/%PDF-1\.\d/, '%PDF-2.0'))],
    ['text before the header', 'document', Buffer.concat([Buffer.from('HTTP junk\r\n'), plain])],
    ['text after the end', 'document', Buffer.concat([plain, Buffer.from('\n<!-- added by a gateway -->\n')])],
    ['wrong cross-reference table', 'document', edit(plain, (text) => text.replace(/startxref\s+\d+/, 'startxref\n7'))],
    ['no cross-reference table', 'document', edit(plain, (text) => text.replace(/xref\n[\s\S]*?trailer/, 'trailer'))],
    [
      'page tree with a loop',
      'unreadable',
      edit(await pdf(), (text) =>
        text.replace(/(\d+ 0) obj\n<<\n\/Type \/Pages\n\/Kids \[ \d+ 0 R \]/, '$1 obj\n<<\n/Type /Pages\n/Kids [ $1 R ]'),
      ),
    ],
    ['certified against changes', 'unsignable', await pdf((document) => certify(document, 1))],
    ['certified for signatures', 'document', await pdf((document) => certify(document, 2))],
    ['only a header', 'unreadable', Buffer.from('%PDF-1.7\n')],
    [
      'no pages',
      'unreadable',
      edit(await pdf(), (text) => text.replace(/\/Kids \[ \d+ 0 R \]/, '/Kids [ ]').replace('/Count 1', '/Count 0')),
    ],
    ['cut in the middle', 'unreadable', plain.subarray(0, 60)],
  ];
}

/** Returns PDF files that qpdf makes: encrypted ones and a linearized one. */
async function encryptedDocuments(folder: string): Promise<[string, CorpusKind, Buffer][]> {
  const plain = await pdf();
  const encrypt = (reader: string, bits: string, ...more: string[]) =>
    qpdf(folder, plain, ['--encrypt', reader, 'owner', bits, ...more, '--']);
  return [
    ['encrypted with a password, 256 bits', 'unreadable', encrypt('secret', '256')],
    ['encrypted with a password, 128 bits', 'unreadable', encrypt('secret', '128', '--use-aes=y')],
    ['restricted by its owner', 'unsignable', encrypt('', '256', '--print=none', '--modify=none')],
    [
      'restricted by its owner, old encryption',
      'unsignable',
      qpdf(folder, plain, ['--allow-weak-crypto', '--encrypt', '', 'owner', '40', '--']),
    ],
    ['linearized', 'document', qpdf(folder, plain, ['--linearize'])],
  ];
}

const solid = (channels: 3 | 4 = 3): Sharp =>
  sharp({ create: { width: 60, height: 40, channels, background: { r: 30, g: 90, b: 160, alpha: 0.5 } } });

/** Returns an image whose header promises more pixels than it has. */
async function hugeImage(): Promise<Buffer> {
  const png = await solid().png().toBuffer();
  png.writeUInt32BE(50_000, 16);
  png.writeUInt32BE(50_000, 20);
  return png;
}

async function imageFiles(): Promise<[string, CorpusKind, Buffer][]> {
  const jpeg = await solid().jpeg().toBuffer();
  const [frames, gif] = [await solid().raw().toBuffer(), { width: 60, height: 40, channels: 3 }] as const;
  const animated = sharp(Buffer.concat([frames, frames, frames]), { raw: { ...gif, height: 120, pageHeight: 40 } });
  return [
    ['photo.jpg', 'image', jpeg],
    ['progressive.jpg', 'image', await solid().jpeg({ progressive: true }).toBuffer()],
    ['grey.jpg', 'image', await solid().greyscale().jpeg().toBuffer()],
    ['four colours.jpg', 'image', await solid().toColourspace('cmyk').jpeg().toBuffer()],
    ['upside down.jpg', 'image', await solid().withMetadata({ orientation: 3 }).jpeg().toBuffer()],
    ['mirrored.jpg', 'image', await solid().withMetadata({ orientation: 5 }).jpeg().toBuffer()],
    ['alpha.png', 'image', await solid(4).png().toBuffer()],
    ['palette.png', 'image', await solid().png({ palette: true }).toBuffer()],
    ['16 bits.png', 'image', await solid().toColourspace('rgb16').png().toBuffer()],
    ['interlaced.png', 'image', await solid().png({ progressive: true }).toBuffer()],
    ['one pixel.png', 'image', await solid().resize(1, 1).png().toBuffer()],
    ['lossy.webp', 'image', await solid().webp().toBuffer()],
    ['lossless.webp', 'image', await solid(4).webp({ lossless: true }).toBuffer()],
    ['animated.webp', 'image', await animated.webp().toBuffer()],
    ['cut.jpg', 'unreadableImage', jpeg.subarray(0, 200)],
    ['huge.png', 'unreadableImage', await hugeImage()],
    ['only a signature.png', 'unreadableImage', jpegSignatureOf(await solid().png().toBuffer())],
  ];
}

const jpegSignatureOf = (bytes: Buffer) => bytes.subarray(0, 40);

async function otherFiles(): Promise<[string, CorpusKind, Buffer][]> {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>';
  return [
    ['drawing.svg', 'playable', Buffer.from(svg)],
    ['words.txt', 'playable', Buffer.from('words')],
    ['table.csv', 'playable', Buffer.from('a,b\r\n1,2\r\n')],
    ['page.html', 'playable', Buffer.from('<!doctype html><script>alert(1)</script>')],
    [
      'sound.wav',
      'playable',
      Buffer.from('524946462400000057415645666d7420100000000100010044ac000088580100020010006461746100000000', 'hex'),
    ],
    ['archive.zip', 'other', Buffer.from('504b0506000000000000000000000000000000000000', 'hex')],
    ['noise.bin', 'other', Buffer.from(Array.from({ length: 400 }, (_, index) => (index * 167) % 256))],
    ['photo.heic', 'unreadableImage', Buffer.from('0000001c66747970686569630000000068656963000000006d696631', 'hex')],
    ['picture.tif', 'unreadableImage', await solid().tiff().toBuffer()],
    ['moving.gif', 'unreadableImage', await solid().gif().toBuffer()],
    ['picture.avif', 'unreadableImage', await solid().avif({ effort: 0 }).toBuffer()],
  ];
}

/** Returns the documents of the corpus. @param qpdfFolder a folder for qpdf; null: without the documents that need it */
export async function documentCorpus(qpdfFolder: string | null): Promise<readonly CorpusDocument[]> {
  const pdfFiles = [...(await pdfDocuments()), ...(qpdfFolder === null ? [] : await encryptedDocuments(qpdfFolder))];
  const files = [...(await imageFiles()), ...(await otherFiles())];
  return [
    ...pdfFiles.map(([name, kind, bytes]) => ({ name: `${name}.pdf`, kind, bytes })),
    ...files.map(([name, kind, bytes]) => ({ name, kind, bytes })),
  ];
}
