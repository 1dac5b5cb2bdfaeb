import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import { samplePdf, samplePng } from '../../scripts/sample-files.ts';
import { openWindow } from '../parts/chromium.ts';
import { newShare, startPostern } from '../start.ts';

async function openFolder(t: TestContext, over: object = {}, viewport = { width: 1440, dark: false }) {
  const postern = await startPostern(t, { environment: { POSTERN_LIBREOFFICE: 'none' } });
  const folder = join(postern.files, 'documents');
  await mkdir(join(folder, 'inner'), { recursive: true });
  await writeFile(join(folder, 'a hill.png'), samplePng(60, 40));
  await writeFile(join(folder, 'b report.pdf'), samplePdf([['Annual report', 'What it cost'], ['Second page']]));
  await writeFile(join(folder, 'c notes.md'), '# Notes\n<script>alert(1)</script>\n');
  await writeFile(join(folder, 'd sheet.xlsx'), Buffer.alloc(100));
  await writeFile(join(folder, 'Makefile'), 'all: build\n');
  const share = await postern.call('share/add', newShare({ path: '/documents', ...over }));
  const { window, consoleErrors, hosts } = await openWindow(t, viewport);
  const page = await window.newPage();
  await page.goto(share.viewUrl);
  await page.getByRole('link', { name: /^a hill.png/ }).waitFor();
  return { page, consoleErrors, hosts, postern, share };
}

/** Replaces the flat list of pages of a five-page PDF by a tree. To open such a PDF, pdf.js needs only its first and its last page. */
function withPageTree(pdf: Buffer): Buffer {
  const text = pdf.toString('latin1');
  const node = (pages: string, count: number) => `<< /Type /Pages /Parent 2 0 R /Kids [${pages}] /Count ${count} >>`;
  const kids = node('4 0 R 6 0 R 8 0 R 10 0 R', 4) + node('12 0 R', 1);
  const root = `2 0 obj\n<< /Type /Pages /Kids [${kids}] /Count 5 >>\nendobj\n`;
  const table = `xref\n2 1\n${String(text.length).padStart(10, '0')} 00000 n \n`;
  const trailer = `trailer\n<< /Size 14 /Root 1 0 R /Prev ${text.lastIndexOf('\nxref') + 1} >>\n`;
  return Buffer.from(`${text}${root}${table}${trailer}startxref\n${text.length + root.length}\n%%EOF\n`, 'latin1');
}

test('a visitor can preview one file after another, and returns to the list in one step', async (t) => {
  const { page, consoleErrors, hosts, postern } = await openFolder(t);

  await page.getByRole('link', { name: /^a hill.png/ }).click();
  await page.locator('.preview-image').waitFor();
  const image = "document.querySelector('.preview-image')";
  assert.equal(await page.evaluate(`${image}.decode().then(() => ${image}.naturalWidth)`), 60);
  await page.keyboard.press('ArrowRight');
  await page.getByRole('region', { name: 'Page 1 of 2' }).getByText('What it cost').waitFor();
  await page.getByRole('link', { name: 'Next: c notes.md' }).click();
  await page.getByText('<script>alert(1)</script>').waitFor();
  await page.getByRole('link', { name: 'Next: d sheet.xlsx' }).click();
  await page.getByText('This server does not show Office documents.').waitFor();
  const { violations } = await new AxeBuilder({ page }).analyze();
  assert.deepEqual(violations, []);
  await page.goBack();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('link', { name: /^Makefile/ }).click();
  await page.getByText('all: build').waitFor();
  // The only refused request (415) is for the spreadsheet, which has no preview.
  assert.deepEqual(
    consoleErrors.filter((text) => !text.includes('415')),
    [],
  );
  assert.deepEqual([...hosts], [new URL(postern.publicUrl).host]);
});

test('a visitor who may view but not download a photo sees a picture of it without its metadata', async (t) => {
  const { page } = await openFolder(t, { canDownload: false, canDownloadFolder: false });
  const paths: string[] = [];
  page.on('request', (request) => paths.push(new URL(request.url()).pathname));
  await page.getByRole('link', { name: /^a hill.png/ }).click();
  const picture = page.getByRole('dialog').locator('img').first();
  await picture.waitFor();
  assert.match((await picture.getAttribute('src')) ?? '', /^blob:|\/page\//);
  assert.ok(!paths.some((path) => path.includes('/view/')));
});

test('the URL of a preview opens it directly, and axe finds no problem in a PDF or text preview', async (t) => {
  const { page, share } = await openFolder(t);
  for (const [name, expectedText] of [
    ['b report.pdf', 'Annual report'],
    ['c notes.md', 'Notes'],
  ] as const) {
    await page.goto('about:blank');
    await page.goto(`${share.viewUrl}#preview/${encodeURIComponent(name)}`);
    await page.getByText(expectedText).first().waitFor();
    const { violations } = await new AxeBuilder({ page }).analyze();
    assert.deepEqual(
      violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]),
      [],
    );
  }
});

test('without view and change permissions, a file row is only a download link', async (t) => {
  const { page } = await openFolder(t, { canView: false, canRename: false, canDelete: false, canUpload: false, canCreateFolder: false });
  const row = page.getByRole('link', { name: /^a hill.png/ });
  assert.equal(await row.getAttribute('download'), 'a hill.png');
  assert.equal(await page.getByRole('button', { name: /^More actions for/ }).count(), 0);
  assert.equal(await page.getByLabel('Upload', { exact: true }).count(), 0);
});

test('a preview says that it shows only the first part of a long text, in UTF-8 and in UTF-16', async (t) => {
  const { page, postern, share } = await openFolder(t);
  const size = 1 << 20;
  const line = `${'a'.repeat(127)}\n`; // the browser needs seconds to lay out one long line
  const texts: readonly (readonly [string, Buffer, number])[] = [
    ['exactly 1 MiB.txt', Buffer.alloc(size, line), 0],
    ['one more.txt', Buffer.alloc(size + 1, line), 1],
    ['utf-8 with a mark.txt', Buffer.concat([Buffer.from('\ufeff'), Buffer.alloc(size, line)]), 1],
    ['utf-16.txt', Buffer.from(`\ufeff${line.repeat(size / line.length)}`, 'utf16le'), 1],
  ];
  for (const [name, content, noticeCount] of texts) {
    await writeFile(join(postern.files, 'documents', name), content);
    await page.goto('about:blank');
    await page.goto(`${share.viewUrl}#preview/${encodeURIComponent(name)}`);
    await page.locator('pre').getByText('aaa').waitFor();
    assert.equal(await page.getByText('Only the first 1 MB is shown.').count(), noticeCount, name);
  }
});

for (const [width, dark] of [
  [390, true],
  [1440, false],
] as const)
  test(`at ${width} px, a CSV file is shown as a table, with its first line as headings`, async (t) => {
    const { page, postern, share } = await openFolder(t, {}, { width, dark });
    const rows = Array.from({ length: 1200 }, (_, index) => `"Lee, Ann ${index}";${index};a remark that is rather long, and has a comma`);
    await writeFile(join(postern.files, 'documents', 'table.csv'), ['Name;Number;Remark', ...rows].join('\r\n'));
    await page.goto('about:blank');
    await page.goto(`${share.viewUrl}#preview/table.csv`);
    await page.getByRole('columnheader', { name: 'Remark' }).waitFor();
    await page.getByRole('cell', { name: 'Lee, Ann 0' }).waitFor();
    assert.equal(await page.getByRole('row').count(), 1001);
    await page.getByText('Only the beginning of the table is shown.').waitFor();
    const { violations } = await new AxeBuilder({ page }).analyze();
    assert.deepEqual(violations, []);
    assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth')) <= width);
  });

for (const [width, dark] of [
  [390, true],
  [1440, false],
] as const)
  test(`at ${width} px, Markdown is shown with headings, lists and tables, and cannot run or load anything`, async (t) => {
    const { page, consoleErrors, hosts, postern, share } = await openFolder(t, {}, { width, dark });
    const lines = [
      '# Title',
      'A [link](https://example.com/a), a [script](javascript:alert(1)) and a [reference][r], and [here](https:/a/path).',
      '![An image](https://example.com/image.png) <img src="https://example.com/other.png" onerror="alert(1)">',
      '- [x] done',
      '',
      '| Name | Number |',
      '|---|--:|',
      `| ${'long '.repeat(40)} | 2 |`,
      '',
      `${'> '.repeat(500)}deep`,
      '',
      '<script>alert(1)</script>',
      '',
      '[r]: https://example.com/r',
    ];
    await writeFile(join(postern.files, 'documents', 'text.md'), lines.join('\n'));
    await page.goto('about:blank');
    await page.goto(`${share.viewUrl}#preview/text.md`);
    await page.getByRole('heading', { name: 'Title' }).waitFor();
    const links = await page.locator('.markdown a').evaluateAll((elements) => elements.map((element) => element.getAttribute('href')));
    assert.deepEqual(links, ['https://example.com/a', 'https://example.com/r', 'https://a/path']);
    assert.equal(await page.locator('.markdown :is(img, script)').count(), 0);
    assert.equal(await page.getByRole('cell', { name: '2' }).count(), 1);
    await page.getByText('<script>alert(1)</script>').waitFor();
    const { violations } = await new AxeBuilder({ page }).analyze();
    assert.deepEqual(violations, []);
    assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth')) <= width);
    assert.deepEqual([consoleErrors, hosts.size], [[], 1]);
  });

test('Markdown that takes too long to parse, or is nested too deeply, is shown as it is, and the page stays usable', async (t) => {
  const { page, postern, share } = await openFolder(t);
  for (const [name, text] of [
    ['deep.md', `${'>'.repeat(20_000)}deep`],
    ['slow.md', `${'*'.repeat(60_000)}slow${'*'.repeat(60_000)}`],
  ] as const) {
    await writeFile(join(postern.files, 'documents', name), text);
    await page.goto('about:blank');
    await page.goto(`${share.viewUrl}#preview/${name}`);
    await page.locator('pre').getByText(name.slice(0, 4)).waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
});

test('if the connection breaks while an image or a PDF is loaded, the preview says so and offers to try again', async (t) => {
  const { page } = await openFolder(t);
  for (const [name, shown] of [
    [/^a hill.png/, '.preview-image'],
    [/^b report.pdf/, '.pdf-page'],
  ] as const) {
    await page.route(/\/view\//, (route) => route.abort());
    await page.getByRole('link', { name }).click();
    await page.getByRole('heading', { name: 'No connection' }).waitFor();
    await page.unroute(/\/view\//);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator(shown).first().waitFor();
    await page.goBack();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
});

test('if the connection breaks before a later page of a PDF is loaded, the preview says so and offers to try again', async (t) => {
  const { page, postern, share } = await openFolder(t);
  const longPage = Array.from({ length: 4000 }, () => ' '.repeat(60)); // pdf.js requests a PDF of this size in parts
  const pdf = withPageTree(samplePdf([['First page'], longPage, ['Third page'], longPage, ['Last page']]));
  const thirdPageAt = pdf.indexOf('\n8 0 obj');
  await writeFile(join(postern.files, 'documents/long.pdf'), pdf);
  await page.route(/\/view\//, (route) => {
    const { range } = route.request().headers();
    if (route.request().method() === 'HEAD') return route.abort();
    if (range === undefined)
      return route.fulfill({
        contentType: 'application/pdf',
        headers: { 'accept-ranges': 'bytes', 'content-length': `${pdf.length}` },
        body: pdf.subarray(0, 65_536),
      });
    const [, first, last] = /bytes=(\d+)-(\d+)/.exec(range) ?? [];
    return Number(first) <= thirdPageAt && thirdPageAt <= Number(last) ? route.abort() : route.continue();
  });
  await page.goto('about:blank');
  await page.goto(`${share.viewUrl}#preview/long.pdf`);
  await page.getByText('First page').waitFor();
  const thirdPage = page.getByRole('region', { name: 'Page 3 of 5' });
  await thirdPage.scrollIntoViewIfNeeded();
  await page.getByRole('heading', { name: 'No connection' }).waitFor();
  await page.unroute(/\/view\//);
  await page.getByRole('button', { name: 'Try again' }).click();
  await thirdPage.scrollIntoViewIfNeeded();
  await thirdPage.getByText('Third page').waitFor();
});

test('the preview of a PDF draws the pages near the screen, even if the browser reports several positions of one page at once', async (t) => {
  const { page, postern, share } = await openFolder(t);
  await writeFile(join(postern.files, 'documents/long.pdf'), samplePdf(Array.from({ length: 120 }, (_, index) => [`Text ${index + 1}`])));
  // In each report, an older entry that says the opposite precedes every entry.
  await page.addInitScript(`window.IntersectionObserver = class extends IntersectionObserver {
    constructor(report, options) {
      super((entries) => report(entries.flatMap((entry) => [{ isIntersecting: !entry.isIntersecting }, entry])), options);
    }
  }`);
  await page.goto('about:blank');
  await page.goto(`${share.viewUrl}#preview/long.pdf`);
  const pageOf = (number: number) => page.getByRole('region', { name: `Page ${number} of 120` });
  await pageOf(1).getByText('Text 1').waitFor();
  assert.equal(await pageOf(101).count(), 0);
  await pageOf(100).scrollIntoViewIfNeeded();
  await pageOf(100).getByText('Text 100').waitFor();
  await pageOf(1).locator('canvas').waitFor({ state: 'detached' });
  await page.locator('.pdf').press('End');
  await pageOf(101).waitFor();
});

test('the preview of a damaged image or PDF says that it cannot be shown, and offers the download', async (t) => {
  const { page, postern, share } = await openFolder(t);
  const withoutPages = samplePdf([['Annual report']])
    .toString('latin1')
    .replace('[4 0 R]', '[9 0 R]');
  await writeFile(join(postern.files, 'documents/damaged.png'), 'no image');
  await writeFile(join(postern.files, 'documents/damaged.pdf'), withoutPages, 'latin1');
  for (const name of ['damaged.png', 'damaged.pdf']) {
    await page.goto('about:blank');
    await page.goto(`${share.viewUrl}#preview/${name}`);
    await page.getByText('This type of file cannot be shown here.').waitFor();
    await page.getByRole('link', { name: 'Download', exact: true }).waitFor();
  }
});
