// Takes the pictures of the documentation: a real Postern, a real browser, four forms of each page.
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import executable from '@sparticuz/chromium';
import { chromium, type Page } from 'playwright-core';
import { compose } from '../src/compose.ts';
import { readSettings } from '../src/settings.ts';
import { shareBody } from '../test/parts/share-body.ts';

const out = join(import.meta.dirname, '../docs/pictures');
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
const files: [string, number][] = [
  ['Annual report 2026, final version for the auditors.pdf', 3_412_345],
  ['Balance sheet.xlsx', 84_213],
  ['Board meeting.mp4', 184_213_000],
  ['Building from the north.jpg', 2_913_442],
  ['Notes.md', 4_213],
];
await mkdir(join(folder, 'Contracts'), { recursive: true });
await mkdir(join(folder, 'Invoices'), { recursive: true });
await mkdir(join(data, 'files', 'inbox'));
for (const [name, size] of files) {
  await writeFile(join(folder, name), Buffer.alloc(size));
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
const pages: Record<string, { url: string; sign: string; after?: (page: Page) => Promise<void> }> = {
  listing: {
    url: (await call('share/add', { ...share, description: 'Everything the auditors asked for.', validityEndDate: '2027-03-31' })).viewUrl,
    sign: 'Notes.md',
  },
  'sign-in': { url: (await call('share/add', { ...share, authenticationId: clients.id })).viewUrl, sign: 'Sign in' },
  'drop-box': {
    url: (await call('share/add', { ...share, ...none, canUpload: true, title: 'Send us your documents', path: '/inbox' })).viewUrl,
    sign: 'Drop files here',
    async after(page) {
      await page
        .locator('input[type=file]')
        .setInputFiles({ name: 'passport.pdf', mimeType: 'application/pdf', buffer: Buffer.alloc(123_456) });
      await page.getByRole('heading', { name: 'Received' }).waitFor();
    },
  },
  ended: { url: (await call('share/add', { ...share, validityEndDate: '2026-01-31' })).viewUrl, sign: 'This link has ended' },
};

await mkdir(out, { recursive: true });
const browser = await chromium.launch({
  executablePath: await executable.executablePath(),
  args: ['--no-sandbox', '--disable-gpu', '--headless=shell', '--disable-background-networking'],
});
for (const width of [390, 1440])
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({
      viewport: { width, height: width === 390 ? 844 : 900 },
      colorScheme,
      locale: 'en-GB',
      timezoneId: 'UTC',
    });
    for (const [name, { url, sign, after }] of Object.entries(pages)) {
      const page = await context.newPage();
      await page.goto(url);
      await page.getByText(sign).first().waitFor();
      await after?.(page);
      await page.screenshot({ path: join(out, `${name}-${width}-${colorScheme}.png`) });
      await page.close();
    }
  }
await browser.close();
await postern[Symbol.asyncDispose]();
await rm(data, { recursive: true, force: true });
