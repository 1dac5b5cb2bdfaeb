import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { samplePdf } from '../parts/sample-documents.ts';
import { startPostern } from '../start.ts';
import { createShare, sendPath } from '../visit/visiting.ts';

/** Returns a PDF with the given objects. The first one is the catalog, the second one the root of the pages. */
function pdfOf(objects: readonly string[]): Buffer {
  const body = objects.map((object, index) => `${index + 1} 0 obj\n${object}\nendobj\n`).join('');
  return Buffer.from(`%PDF-1.7\n${body}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\n%%EOF\n`, 'latin1');
}
const catalog = '<< /Type /Catalog /Pages 2 0 R >>';
const streamOf = (dictionary: string, content: string) => `<< ${dictionary} /Length ${content.length} >>\nstream\n${content}\nendstream`;

/** A page that draws a form, which draws another one ten times, and so on: 10^8 drawings. */
function nestedForms(): Buffer {
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

function manyPages(count: number): Buffer {
  const pages = Array.from({ length: count }, () => '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] >>');
  const kids = pages.map((_, index) => `${index + 3} 0 R`).join(' ');
  return pdfOf([catalog, `<< /Type /Pages /Kids [${kids}] /Count ${count} >>`, ...pages]);
}

/** A PNG file of less than a hundred bytes whose header states 50,000 x 50,000 pixels. */
function hugePng(): Buffer {
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

async function shareDocuments(t: TestContext, documents: Readonly<Record<string, Buffer>>, over: object = {}) {
  const postern = await startPostern(t);
  for (const [name, bytes] of Object.entries(documents)) await writeFile(join(postern.files, name), bytes);
  const { base } = await createShare(postern, over);
  return { postern, send: (path: string) => sendPath(postern, base + path) };
}

test('a document that is made to take all time or memory is refused, others are drawn afterwards, and requests are answered meanwhile', async (t) => {
  const bombs = { 'forms.pdf': nestedForms(), 'pages.pdf': manyPages(40_000), 'huge.png': hugePng() };
  const { postern, send } = await shareDocuments(t, { ...bombs, 'good.pdf': await samplePdf() });
  for (const name of Object.keys(bombs)) {
    let isDrawing = true;
    const drawing = send(`/page/${name}`).finally(() => {
      isDrawing = false;
    });
    while (isDrawing) assert.equal((await fetch(`${postern.apiUrl}/health/live`)).status, 200);
    const { status, json } = await drawing;
    assert.ok(['documentTooLarge', 'hasNoPages'].includes(json?.code), `${name}: ${status} ${json?.code}`);
    assert.equal((await send('/page/good.pdf?number=1&width=100')).status, 200, `after ${name}`);
  }
});

test('a bomb is never sent as it is if it cannot be marked', async (t) => {
  const { send } = await shareDocuments(t, { 'pages.pdf': manyPages(40_000), 'huge.png': hugePng() }, { waterMarkText: '{ip}' });
  for (const path of ['/file/pages.pdf', '/view/pages.pdf', '/file/huge.png', '/page/huge.png', '/thumbnail/huge.png']) {
    const { status, bytes } = await send(path);
    assert.ok(status === 413 || status === 403, `${path}: ${status}`);
    assert.ok(!bytes.includes('%PDF') && !bytes.includes('IHDR'), path);
  }
});
