// Takes the pictures of the console (see pictures.ts).
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import executable from '@sparticuz/chromium';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { compose } from '../src/composition/compose.ts';
import { readSettings } from '../src/settings/settings.ts';
import { shareBody } from '../test/parts/share-body.ts';

const data = await mkdtemp(join(tmpdir(), 'postern-pictures-'));
const key = 'key-for-the-pictures';
const postern = await compose(readSettings({ PORT: '0', POSTERN_DATA: data, POSTERN_API_KEY: key }), { log: null });
const password = 'a horse that reads maps';

async function call(name: string, body: object): Promise<{ id: number; viewId: string; viewUrl: string }> {
  const response = await fetch(`${postern.apiUrl}/api/v1/${name}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${name}: ${await response.text()}`);
  return JSON.parse(await response.text());
}

const inDays = (days: number) => `${new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)}`;
for (const folder of ['reports/2026', 'reports/2027', 'inbox', 'drawings']) await mkdir(join(data, 'files', folder), { recursive: true });
for (const name of ['reports/Annual report.pdf', 'reports/Balance sheet.xlsx', 'reports/2026/Notes.md'])
  await writeFile(join(data, 'files', name), Buffer.alloc(84_213));
const clients = await call('loginprofile/add', { title: 'Clients', typeId: 3, description: 'Everyone with a contract.' });
await call('loginprofile/add', { title: 'Auditors', typeId: 2, password: 'reports 2026', ipRange: '10.0.0.0/8' });
const withProvider = async (title: string, typeId: number, configuration: object) =>
  (await call('loginprofile/add', { title, typeId, configuration: JSON.stringify(configuration) })).id;
const openId = await withProvider('Staff (Entra ID)', 5, {
  ...{
    issuer: 'https://login.microsoftonline.com/9f2c6a1e-0000-4000-8000-5d1c3b7a2e10/v2.0',
    clientId: '5d0c1f5e-0000-4000-8000-2b7d3c9e4f60',
  },
  ...{ clientSecret: 'a secret', scopes: 'openid email profile offline_access', groupsClaim: 'groups', usernameClaim: 'upn' },
});
const saml = await withProvider('Partners (SAML)', 6, {
  ...{ metadataUrl: 'https://login.example.com/saml/metadata', groupsAttribute: 'groups', emailAttribute: 'email', emailTrust: 'provider' },
});
const directory = await withProvider('Head office (Active Directory)', 7, {
  ...{ url: 'ldaps://dc1.example.com', baseDn: 'dc=example,dc=com', bindDn: 'postern@example.com', bindPassword: 'a secret' },
  ...{ userFilter: '(&(objectCategory=person)(|(sAMAccountName={username})(userPrincipalName={username})))' },
  ...{ usernameAttribute: 'sAMAccountName', emailAttribute: 'mail', groupsFrom: 'memberOf', nestedGroups: true },
});
for (const [username, firstName, lastName] of [
  ['ann', 'Ann', 'Lee'],
  ['bob', 'Bob', 'Stone'],
  ['carla', 'Carla', 'Diaz'],
]) {
  await call('accessuser/add', { username, firstName, lastName, email: `${username}@example.com`, active: true, authId: clients.id });
  await call('accessuser/updateUserPassword', { username, userPassword: password, confirmPassword: password });
}
const shareDefaults = { ...shareBody, path: '/reports', canUpload: false, canCreateFolder: false, canRename: false, canDelete: false };
const reports = await call('share/add', {
  ...shareDefaults,
  title: 'Reports of 2026',
  authenticationId: clients.id,
  allowAllUsers: false,
  userNames: 'ann, bob',
  validityEndDate: inDays(9),
});
await call('share/add', { ...shareDefaults, title: 'Drawings for the builders', path: '/drawings' });
await call('share/add', {
  ...shareDefaults,
  title: 'Send us your documents',
  path: '/inbox',
  canUpload: true,
  canDownload: false,
  canView: false,
});
await call('share/add', { ...shareDefaults, title: 'Reports of 2025', validityEndDate: '2026-01-31' });
await call('share/add', { ...shareDefaults, title: 'Reports of 2027', validityStartDate: inDays(40) });
await call('share/add', { ...shareDefaults, title: 'Old drawings', path: '/drawings', active: false });
const signIn = await fetch(`${postern.publicUrl}/s/${reports.viewId}/sign-in`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ username: 'ann', password }),
});
const cookie = signIn.headers.getSetCookie()[0]?.split(';')[0] ?? '';
for (const path of ['visit', 'list', 'file/Annual%20report.pdf', 'file/Balance%20sheet.xlsx'])
  await (await fetch(`${postern.publicUrl}/s/${reports.viewId}/${path}`, { headers: { cookie } })).arrayBuffer();
await call('operator/add', { name: 'Olga', role: 'admin', password, confirmPassword: password });

interface Scene {
  readonly at: string;
  /** Text that shows that the page is loaded. */
  readonly expectedText: string;
  readonly signedOut?: true;
  readonly after?: (page: Page) => Promise<void>;
}
/** Returns the scene with the form for a new location of a kind. */
const newLocation = (kind: string): Scene => ({
  at: '/locations/new',
  expectedText: 'Where files are stored',
  async after(page) {
    await page.getByRole('combobox', { name: 'Kind of storage' }).click();
    await page.getByRole('option', { name: kind }).click();
  },
});

const scenes: Record<string, Scene> = {
  first: { at: '/first#token', expectedText: 'Welcome to Postern', signedOut: true },
  'sign-in': { at: '', expectedText: 'Sign in to Postern', signedOut: true },
  overview: { at: '', expectedText: 'Expiring soon' },
  shares: { at: '/shares', expectedText: 'Reports of 2026' },
  'shares-chosen': {
    at: '/shares',
    expectedText: 'Reports of 2026',
    async after(page) {
      await page.getByLabel('Select Reports of 2026').check();
      await page.getByLabel('Select Drawings for the builders').check();
      await page.getByRole('button', { name: 'Deactivate' }).click();
      await page.getByText('will lose access').waitFor();
    },
  },
  'share-new': { at: '/shares/new', expectedText: 'Choose the file or folder' },
  'share-pick': {
    at: '/shares/new',
    expectedText: 'Choose the file or folder',
    async after(page) {
      await page.getByRole('button', { name: 'Browse files' }).click();
      await page.getByText('drawings').waitFor();
    },
  },
  share: { at: `/shares/${reports.id}`, expectedText: 'Check access' },
  'share-foot': {
    at: `/shares/${reports.id}`,
    expectedText: 'Check access',
    async after(page) {
      await page.getByRole('button', { name: 'Check access' }).click();
      await page.getByText('and sign in, and nothing else').waitFor();
      await page.getByText('Have not opened the share').scrollIntoViewIfNeeded();
    },
  },
  'share-code': {
    at: `/shares/${reports.id}`,
    expectedText: 'Check access',
    async after(page) {
      await page.getByLabel('Show QR code').click();
      await page.getByRole('img', { name: /QR code/ }).waitFor();
    },
  },
  users: { at: '/users', expectedText: 'carla' },
  user: { at: '/users/1', expectedText: 'Inactive users' },
  import: {
    at: '/users/import',
    expectedText: 'Import users',
    async after(page) {
      await page.getByLabel('CSV text').fill('username;email;Department\ndora;dora@example.com;Sales\nann;ann@example.com\n;nobody');
      await page.getByRole('button', { name: 'Check file' }).click();
      await page.getByText('would be added').scrollIntoViewIfNeeded();
    },
  },
  profiles: { at: '/profiles', expectedText: 'Auditors' },
  profile: { at: `/profiles/${clients.id}`, expectedText: 'Portal' },
  'profile-openid': { at: `/profiles/${openId}`, expectedText: 'Provider test' },
  'profile-saml': { at: `/profiles/${saml}`, expectedText: 'Provider test' },
  'profile-ldap': { at: `/profiles/${directory}`, expectedText: 'Directory test' },
  'profile-new': { at: '/profiles/new', expectedText: 'How visitors sign in' },
  locations: { at: '/locations', expectedText: 'local' },
  location: { at: '/locations/1', expectedText: 'Location test' },
  activity: { at: '/activity', expectedText: 'Added a share' },
  keys: { at: '/settings/keys', expectedText: 'environment' },
  operators: { at: '/settings/operators', expectedText: 'Olga' },
  policy: { at: '/settings/policy', expectedText: 'Visitors must sign in' },
  'share-password': {
    at: '/shares/new',
    expectedText: 'Sign in with a password for this link',
    async after(page) {
      await page.getByLabel('Sign in with a password for this link').check();
      await page.getByRole('button', { name: 'Generate' }).click();
    },
  },
  account: { at: '/settings/account', expectedText: 'Current password' },
  'user-new': { at: '/users/new', expectedText: 'Needed only for a login profile' },
  'location-new': { at: '/locations/new', expectedText: 'Where files are stored' },
  'location-s3': newLocation('Amazon S3 or compatible'),
  'location-azure': newLocation('Azure Blob Storage'),
  'location-webdav': newLocation('WebDAV server'),
  'location-sftp': newLocation('SFTP server'),
  'not-found': { at: '/nowhere', expectedText: 'Page not found' },
  missing: { at: '/shares/999', expectedText: 'This record does not exist' },
  nothing: { at: '/shares?q=zzz', expectedText: 'No results found' },
  'key-new': {
    at: '/settings/keys',
    expectedText: 'environment',
    after: (page) => page.getByRole('button', { name: 'Create API key' }).click(),
  },
  'operator-new': {
    at: '/settings/operators',
    expectedText: 'Olga',
    after: (page) => page.getByRole('button', { name: 'Add operator' }).click(),
  },
  password: { at: '/users/1', expectedText: 'Inactive users', after: (page) => page.getByRole('button', { name: 'Set password' }).click() },
  refused: {
    at: '/shares/new',
    expectedText: 'Choose the file or folder',
    async after(page) {
      await page.getByLabel('File or folder').fill('/nowhere');
      await page.getByRole('button', { name: 'Create share' }).click();
      await page.getByText('Not saved').waitFor();
    },
  },
  leave: {
    at: '/shares',
    expectedText: 'Reports of 2026',
    async after(page) {
      await page.getByRole('link', { name: 'Reports of 2026' }).click();
      await page.getByRole('heading', { name: 'Check access' }).waitFor();
      await page.getByLabel('Title').fill('Reports');
      await page.evaluate('history.back()');
      await page.getByText('Leave without saving?').waitFor();
    },
  },
  'session-ended': {
    at: '/users',
    expectedText: 'carla',
    async after(page) {
      await page.route('**/api/v1/**', (route) =>
        route.fulfill({ status: 401, contentType: 'application/problem+json', body: '{"code":"signInNeeded","detail":""}' }),
      );
      await page.getByRole('searchbox').fill('ann');
      await page.getByText('Your session has ended').waitFor();
    },
  },
  palette: {
    at: '/shares',
    expectedText: 'Reports of 2026',
    async after(page) {
      await page.keyboard.press('Control+k');
      await page.getByPlaceholder('Search or run a command').fill('repo');
      await page.getByText('Share of /reports').first().waitFor();
    },
  },
};

const documentedScenes: Record<string, readonly string[]> = {
  shares: ['1440-light'],
  'shares-chosen': ['1440-light'],
  share: ['1440-dark', '390-light'],
  'profile-openid': ['1440-light'],
  'profile-saml': ['1440-light'],
  'profile-ldap': ['1440-light'],
};
const [outputFolder, ...only] = process.argv.slice(2);
const out = outputFolder ?? join(import.meta.dirname, '../docs/pictures');
await mkdir(out, { recursive: true });
const browser = await chromium.launch({
  executablePath: await executable.executablePath(),
  args: ['--no-sandbox', '--disable-gpu', '--headless=shell', '--disable-background-networking'],
});

async function signInToConsole(context: BrowserContext): Promise<void> {
  const page = await context.newPage();
  await page.goto(`${postern.apiUrl}/console`);
  await page.getByLabel('Name').fill('Olga');
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.keyboard.press('Enter');
  await page.getByText('Signed in as').waitFor();
  await page.close();
}

const heightOf = (page: Page): Promise<number> => page.evaluate('document.documentElement.scrollHeight');

for (const width of [390, 1440])
  for (const colorScheme of ['light', 'dark'] as const) {
    const viewport = { width, height: width === 390 ? 844 : 900 };
    const options = { viewport, colorScheme, locale: 'en-GB', timezoneId: 'UTC' };
    const context = await browser.newContext(options);
    await signInToConsole(context);
    for (const [name, { at, expectedText, signedOut, after }] of Object.entries(scenes)) {
      if (outputFolder ? only.length > 0 && !only.includes(name) : !documentedScenes[name]?.includes(`${width}-${colorScheme}`)) continue;
      const page = signedOut ? await browser.newPage(options) : await context.newPage();
      page.setDefaultTimeout(10_000);
      page.on('console', (message) => ['error', 'warning'].includes(message.type()) && console.log(name, message.text()));
      page.on('pageerror', (error) => console.log(name, error.message));
      try {
        await page.goto(`${postern.apiUrl}/console${at}`);
        await page.getByText(expectedText).first().waitFor();
        await after?.(page);
        await page.waitForLoadState('networkidle');
      } catch (cause) {
        console.log(name, width, colorScheme, cause instanceof Error ? cause.message.split('\n')[0] : cause);
      }
      const path = join(out, `console-${name}-${width}-${colorScheme}.png`);
      // Uses a taller window instead of `fullPage`, which would show the bar with the button Save
      // in the middle of the form.
      if (name.startsWith('profile-') || name.startsWith('location-')) await page.setViewportSize({ width, height: await heightOf(page) });
      await page.screenshot({ path, animations: 'disabled' });
      await page.close();
    }
    await context.close();
  }
await browser.close();
await postern[Symbol.asyncDispose]();
await rm(data, { recursive: true, force: true });
