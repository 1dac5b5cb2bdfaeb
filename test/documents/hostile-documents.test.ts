import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  deepArrays,
  deflatedContent,
  hugeImage,
  hugePng,
  manyPages,
  nestedForms,
  recursiveFont,
  slowPage,
} from '../parts/document-bombs.ts';
import { samplePdf } from '../parts/sample-documents.ts';
import { startPostern } from '../start.ts';
import { createShare, sendPath } from '../visit/visiting.ts';

async function shareDocuments(t: TestContext, documents: Readonly<Record<string, Buffer>>, over: object = {}) {
  const postern = await startPostern(t);
  for (const [name, bytes] of Object.entries(documents)) await writeFile(join(postern.files, name), bytes);
  const { base } = await createShare(postern, over);
  return { postern, send: (path: string) => sendPath(postern, base + path) };
}

test('a document that would take very much time or memory is refused; the health check works meanwhile, and another document is drawn afterwards', async (t) => {
  const bombs = {
    ...{ 'forms.pdf': nestedForms(), 'pages.pdf': manyPages(40_000), 'huge.png': hugePng() },
    ...{ 'deflated.pdf': deflatedContent(), 'image.pdf': hugeImage(), 'arrays.pdf': deepArrays(), 'font.pdf': recursiveFont() },
  };
  const { postern, send } = await shareDocuments(t, { ...bombs, 'good.pdf': await samplePdf() });
  for (const name of Object.keys(bombs)) {
    let isDrawing = true;
    const drawing = send(`/page/${name}`).finally(() => {
      isDrawing = false;
    });
    while (isDrawing) assert.equal((await fetch(`${postern.apiUrl}/health/live`)).status, 200);
    const { status, json } = await drawing;
    // PDFium draws some bombs without much work: it skips what is too deep, and reads only the rows of an image that it needs.
    assert.ok(status === 200 || ['documentTooLarge', 'hasNoPages'].includes(json?.code), `${name}: ${status} ${json?.code}`);
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

test('a document of one link that takes seconds does not make the documents of other links wait until it is drawn', async (t) => {
  const { postern, send } = await shareDocuments(t, { 'slow.pdf': slowPage(12), 'good.pdf': await samplePdf() });
  const { base: other } = await createShare(postern, {});
  const order: string[] = [];
  const slow = send('/page/slow.pdf?width=2400').finally(() => order.push('slow'));
  const good = sendPath(postern, `${other}/page/good.pdf`).finally(() => order.push('good'));
  assert.equal((await good).status, 200);
  assert.ok([200, 413].includes((await slow).status));
  assert.deepEqual(order, ['good', 'slow']);
  assert.equal((await send('/page/good.pdf')).status, 200); // the link itself still has its documents
});
