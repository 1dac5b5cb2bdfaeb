import { deflateSync } from 'node:zlib';

/** Returns a PDF with the given objects. The first one is the catalog, the second one the root of the pages. */
function pdfOf(objects: readonly string[]): Buffer {
  const body = objects.map((object, index) => `${index + 1} 0 obj\n${object}\nendobj\n`).join('');
  return Buffer.from(`%PDF-1.7\n${body}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\n%%EOF\n`, 'latin1');
}
const catalog = '<< /Type /Catalog /Pages 2 0 R >>';
const streamOf = (dictionary: string, content: string) => `<< ${dictionary} /Length ${content.length} >>\nstream\n${content}\nendstream`;

/** A page that draws a form, which draws another one ten times, and so on: 10^8 drawings. */
export function nestedForms(): Buffer {
  const depth = 9;
  const formOf = (level: number) => {
    const next = level === depth ? '' : `/Resources << /XObject << /F ${5 + level} 0 R >> >>`;
    const content = level === depth ? '0 0 10 10 re f' : '/F Do '.repeat(10);
    return streamOf(`/Type /XObject /Subtype /Form /BBox [0 0 100 100] ${next}`, content);
  };
  const page = '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] /Contents 4 0 R /Resources << /XObject << /F 5 0 R >> >> >>';
  const forms = Array.from({ length: depth }, (_, index) => formOf(index + 1));
  return pdfOf([catalog, pageRoot, page, streamOf('', '/F Do'), ...forms]);
}

/** Returns a PDF with many pages. */
export function manyPages(count: number): Buffer {
  const pages = Array.from({ length: count }, () => '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] >>');
  const kids = pages.map((_, index) => `${index + 3} 0 R`).join(' ');
  return pdfOf([catalog, `<< /Type /Pages /Kids [${kids}] /Count ${count} >>`, ...pages]);
}

const onePage = (resources: string, page = '') =>
  `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] /Contents 4 0 R /Resources << ${resources} >> ${page} >>`;
const pageRoot = '<< /Type /Pages /Kids [3 0 R] /Count 1 >>';
/** Bytes as a stream with a filter for each compression. @param times how often they are compressed */
function compressed(content: Buffer, times: number, dictionary = ''): string {
  let bytes = content;
  for (let time = 0; time < times; time += 1) bytes = deflateSync(bytes, { level: 9 });
  return streamOf(`${dictionary} /Filter [${'/FlateDecode '.repeat(times)}]`, bytes.toString('latin1'));
}

/** A page whose content is compressed twice: some hundred bytes become 256 MiB. */
export const deflatedContent = (): Buffer => pdfOf([catalog, pageRoot, onePage(''), compressed(Buffer.alloc(256 << 20, ' '), 2)]);

/** A page with an image of 50,000 x 50,000 pixels. */
export function hugeImage(): Buffer {
  const image = '/Type /XObject /Subtype /Image /Width 50000 /Height 50000 /ColorSpace /DeviceRGB /BitsPerComponent 8';
  const content = streamOf('', '100 0 0 100 0 0 cm /I Do');
  return pdfOf([catalog, pageRoot, onePage('/XObject << /I 5 0 R >>'), content, compressed(Buffer.alloc(128 << 20), 2, image)]);
}

/** A page whose dictionary has arrays in arrays, 100,000 deep. */
export const deepArrays = (): Buffer =>
  pdfOf([catalog, pageRoot, onePage('', `/X ${'['.repeat(100_000)}${']'.repeat(100_000)}`), streamOf('', '0 0 10 10 re f')]);

/** A page with a glyph that draws itself: a font (Type 3) whose glyph uses the font. */
export function recursiveFont(): Buffer {
  const font = '<< /Type /Font /Subtype /Type3 /FontBBox [0 0 1 1] /FontMatrix [1 0 0 1 0 0] /FirstChar 97 /LastChar 97 /Widths [1]';
  const glyphs = '/Encoding << /Type /Encoding /Differences [97 /a] >> /CharProcs << /a 6 0 R >> /Resources << /Font << /F 5 0 R >> >> >>';
  const glyph = streamOf('', `1 0 d0 BT /F 1 Tf ${'(aaaaaaaaaa) Tj '.repeat(10)} ET`);
  return pdfOf([catalog, pageRoot, onePage('/Font << /F 5 0 R >>'), streamOf('', 'BT /F 10 Tf (aaaa) Tj ET'), `${font} ${glyphs}`, glyph]);
}

/** A page that takes seconds: it is filled so often with a blend mode that computes a lot for each pixel. */
export function slowPage(fills: number): Buffer {
  const page = onePage('/ExtGState << /G << /BM /Luminosity >> >>');
  return pdfOf([catalog, pageRoot, page, streamOf('', `/G gs 1 0 0 rg ${'0 0 100 100 re f '.repeat(fills)}`)]);
}

/** A PNG file of less than a hundred bytes whose header states 50,000 x 50,000 pixels. */
export function hugePng(): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    return Buffer.concat([length, Buffer.from(type), data, Buffer.alloc(4)]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(50_000, 0);
  header.writeUInt32BE(50_000, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', deflateSync(Buffer.alloc(1000))), chunk('IEND', Buffer.alloc(0))]);
}
