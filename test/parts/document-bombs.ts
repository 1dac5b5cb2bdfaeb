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
  return pdfOf([catalog, '<< /Type /Pages /Kids [3 0 R] /Count 1 >>', page, streamOf('', '/F Do'), ...forms]);
}

/** Returns a PDF with many pages. */
export function manyPages(count: number): Buffer {
  const pages = Array.from({ length: count }, () => '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] >>');
  const kids = pages.map((_, index) => `${index + 3} 0 R`).join(' ');
  return pdfOf([catalog, `<< /Type /Pages /Kids [${kids}] /Count ${count} >>`, ...pages]);
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
