// Takes the screenshots for the documentation in a real browser: first of the visitor's pages, then of the console. With a
// folder as argument, takes screenshots of every page at two widths, light and dark, for a review. Further arguments
// limit the screenshots to the pages with these names.
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import executable from '@sparticuz/chromium';
import { chromium, type Page } from 'playwright-core';
import { compose } from '../src/composition/compose.ts';
import { readSettings } from '../src/settings/settings.ts';
import { shareBody } from '../test/parts/share-body.ts';
import { samplePdf, samplePng } from './sample-files.ts';

const data = await mkdtemp(join(tmpdir(), 'postern-pictures-'));
const key = 'key-for-the-pictures';
const postern = await compose(readSettings({ PORT: '0', POSTERN_DATA: data, POSTERN_API_KEY: key }), { log: null });

async function call(name: string, body: object): Promise<{ id: number; viewUrl: string }> {
  const response = await fetch(`${postern.apiUrl}/api/v1/${name}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
  return JSON.parse(await response.text());
}

const folder = join(data, 'files', 'quarter-4');
const report = samplePdf([
  ['Annual report 2026', ...Array.from({ length: 24 }, (_, line) => `${line + 1}.  What was promised, what was done, and what it cost.`)],
  ['Balance sheet', 'Assets and liabilities at the end of the year.'],
]);
const files: [string, Buffer][] = [
  ['Annual report 2026, final version for the auditors.pdf', report],
  ['Balance sheet.xlsx', Buffer.alloc(84_213)],
  ['Board meeting.mp4', Buffer.alloc(18_421_300)],
  ['Building from the north.png', samplePng(1200, 800)],
  [
    'Notes.md',
    Buffer.from(
      Array.from({ length: 40 }, (_, line) => `${line % 8 === 0 ? '\n## Section' : '- a point to settle before'} ${line + 1}`).join('\n'),
    ),
  ],
];
await mkdir(join(folder, 'Contracts'), { recursive: true });
await mkdir(join(folder, 'Invoices'), { recursive: true });
await mkdir(join(data, 'files', 'inbox'));
for (const [name, bytes] of files) {
  await writeFile(join(folder, name), bytes);
  await utimes(join(folder, name), new Date('2026-11-02T09:00:00Z'), new Date('2026-11-02T09:00:00Z'));
}
const none = {
  canDelete: false,
  canUpload: false,
  canCreateFolder: false,
  canDownload: false,
  canDownloadFolder: false,
  canView: false,
  canRename: false,
};
const share = { ...shareBody, title: 'Quarter 4, 2026', path: '/quarter-4' };
const clients = await call('loginprofile/add', {
  title: 'Clients of Example & Co.',
  typeId: 3,
  startupMessage: 'Sign in with the name and password from our letter.',
});
const listing = (await call('share/add', { ...share, description: 'Everything the auditors asked for.', validityEndDate: '2027-03-31' }))
  .viewUrl;
const annsPassword = 'reports of the fourth quarter';
await call('accessuser/add', { username: 'ann', active: true, authId: clients.id });
await call('accessuser/updateUserPassword', { username: 'ann', userPassword: annsPassword, confirmPassword: annsPassword });
const forClients = (await call('share/add', { ...share, authenticationId: clients.id })).viewUrl;
const upload = (page: Page, name: string, bytes: Buffer) =>
  page.getByLabel('Upload', { exact: true }).setInputFiles({ name, mimeType: 'application/octet-stream', buffer: bytes });
const pages: Record<string, { url: string; expectedText: string; locale?: string; after?: (page: Page) => Promise<void> }> = {
  listing: { url: listing, expectedText: 'Notes.md' },
  arabic: { url: listing, expectedText: 'Notes.md', locale: 'ar' },
  german: { url: listing, expectedText: 'Notes.md', locale: 'de' },
  'preview-pdf': {
    url: `${listing}#preview/${encodeURIComponent(files[0]?.[0] ?? '')}`,
    expectedText: 'Annual report 2026',
    after: (page) => page.locator('.pdf-text span').first().waitFor({ state: 'attached' }),
  },
  'preview-image': {
    url: `${listing}#preview/${encodeURIComponent('Building from the north.png')}`,
    expectedText: 'Building from',
    after: async (page) => void (await page.evaluate("document.querySelector('.preview-image').decode()")),
  },
  'preview-text': { url: `${listing}#preview/Notes.md`, expectedText: 'a point to settle' },
  'preview-card': { url: `${listing}#preview/${encodeURIComponent('Balance sheet.xlsx')}`, expectedText: 'cannot be shown' },
  exists: {
    url: listing,
    expectedText: 'Notes.md',
    async after(page) {
      await page.getByLabel('Select Notes.md').check();
      await upload(page, 'Notes.md', Buffer.from('other'));
      await page.getByText('Keep both').waitFor();
    },
  },
  'sign-in-wrong': {
    url: forClients,
    expectedText: 'Sign in',
    async after(page) {
      await page.getByLabel('User name').fill('ann');
      await page.getByLabel('Password', { exact: true }).fill('wrong');
      await page.keyboard.press('Enter');
      await page.getByText('is incorrect').waitFor();
    },
  },
  empty: {
    url: (await call('share/add', { ...share, title: 'Nothing yet', path: '/quarter-4/Contracts' })).viewUrl,
    expectedText: 'empty',
  },
  'sign-in': { url: forClients, expectedText: 'Sign in' },
  'change-password': {
    url: forClients,
    expectedText: 'Sign in',
    async after(page) {
      await page.getByLabel('User name').fill('ann');
      await page.getByLabel('Password', { exact: true }).fill(annsPassword);
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Change password' }).click();
      await page.getByRole('dialog').waitFor();
    },
  },
  'drop-box': {
    url: (await call('share/add', { ...share, ...none, canUpload: true, title: 'Send us your documents', path: '/inbox' })).viewUrl,
    expectedText: 'Send us your documents',
    async after(page) {
      await upload(page, 'passport.pdf', Buffer.alloc(123_456));
      await page.getByRole('heading', { name: 'Received' }).waitFor();
    },
  },
  'chosen-german': {
    url: listing,
    expectedText: 'Notes.md',
    locale: 'de',
    after: (page) => page.getByLabel('Notes.md auswählen').check(),
  },
  protected: { url: (await call('share/add', { ...share, copyProtect: true })).viewUrl, expectedText: 'These files are protected' },
  'zip-alone': {
    url: (await call('share/add', { ...share, ...none, canDownloadFolder: true })).viewUrl,
    expectedText: 'Download all as ZIP',
  },
  failed: {
    url: listing,
    expectedText: 'Notes.md',
    async after(page) {
      await page.route(/\/file\//, (route) => route.abort());
      await upload(page, 'A film of the whole meeting, uncut.mp4', Buffer.alloc(123_456));
      await page.getByText('The connection was lost.').waitFor();
    },
  },
  ended: { url: (await call('share/add', { ...share, validityEndDate: '2026-01-31' })).viewUrl, expectedText: 'This link has expired' },
};

const allVariants = ['390-light', '390-dark', '1440-light', '1440-dark'];
const documentedVariants: Record<string, readonly string[]> = {
  ...{ listing: allVariants, 'sign-in': allVariants, 'drop-box': allVariants, ended: allVariants },
  ...{ 'preview-pdf': ['390-light'], 'preview-image': ['1440-dark'], exists: ['1440-light'], arabic: ['390-light'] },
};
const [outputFolder, ...only] = process.argv.slice(2);
const out = outputFolder ?? join(import.meta.dirname, '../docs/pictures');
await mkdir(out, { recursive: true });
const browser = await chromium.launch({
  executablePath: await executable.executablePath(),
  args: ['--no-sandbox', '--disable-gpu', '--headless=shell', '--disable-background-networking'],
});
for (const width of [390, 1440])
  for (const colorScheme of ['light', 'dark'] as const)
    for (const [name, { url, expectedText, locale = 'en-GB', after }] of Object.entries(pages)) {
      if (outputFolder ? only.length > 0 && !only.includes(name) : !documentedVariants[name]?.includes(`${width}-${colorScheme}`)) continue;
      const viewport = { width, height: width === 390 ? 844 : 900 };
      const page = await browser.newPage({ viewport, colorScheme, locale, timezoneId: 'UTC', hasTouch: width === 390 });
      await page.goto(url);
      await page.getByText(expectedText).first().waitFor();
      await after?.(page);
      await page.screenshot({ path: join(out, `${name}-${width}-${colorScheme}.png`) });
      await page.close();
    }
await browser.close();
await postern[Symbol.asyncDispose]();
await rm(data, { recursive: true, force: true });

await import('./console-pictures.ts');
