import assert from 'node:assert/strict';
import { test } from 'node:test';
import ssh2 from 'ssh2';
import { missingForDirectory, startDirectory } from '../parts/debian-directory.ts';
import { startOpenIdProvider } from '../parts/openid-provider.ts';
import { assertAccessible, openSignedInConsole, unexpectedErrors } from './console.ts';

const choose = async (page: import('playwright-core').Page, kind: string) => page.getByRole('radio', { name: kind, exact: true }).click();

/** For each kind except codes by e-mail: the values typed into its fields, and the configuration in responses, with masked secrets. */
const kinds: Record<string, { typeId: number; fields: Record<string, string>; configuration: object | '' }> = {
  'No sign-in': { typeId: 1, fields: {}, configuration: '' },
  'One password': { typeId: 2, fields: { 'User name': 'guest', Password: 'a long shared secret' }, configuration: '' },
  'Users with passwords': { typeId: 3, fields: {}, configuration: '' },
  'OpenID Connect': {
    typeId: 5,
    fields: { Issuer: 'https://login.example.com', 'Client ID': 'postern', 'Client secret': 'secret', 'Groups claim': 'groups' },
    configuration: { issuer: 'https://login.example.com', clientId: 'postern', clientSecret: '********', groupsClaim: 'groups' },
  },
  SAML: {
    typeId: 6,
    fields: { 'Metadata address': 'https://login.example.com/metadata', 'Groups attribute': 'groups' },
    configuration: { metadataUrl: 'https://login.example.com/metadata', groupsAttribute: 'groups' },
  },
  LDAP: {
    typeId: 7,
    fields: {
      'Server URL': 'ldaps://directory.example.com',
      'Base DN': 'ou=people,dc=example,dc=com',
      'DN of the account': 'cn=postern',
      'Password of the account': 'secret',
      'User filter': '(uid={username})',
    },
    configuration: {
      url: 'ldaps://directory.example.com',
      baseDn: 'ou=people,dc=example,dc=com',
      bindDn: 'cn=postern',
      bindPassword: '********',
      userFilter: '(uid={username})',
    },
  },
};

test('the form of each type of login profile, except codes by e-mail, is saved as it was filled in', async (t) => {
  const { postern, page, navigate, consoleErrors } = await openSignedInConsole(t);
  for (const [kind, { typeId, fields, configuration }] of Object.entries(kinds)) {
    await navigate('/profiles/new');
    await page.getByLabel('Title').fill(`By ${kind}`);
    await choose(page, kind);
    for (const [label, value] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(value);
    await page.getByRole('button', { name: 'Create login profile' }).click();
    await page.getByRole('heading', { name: `By ${kind}` }).waitFor();
    const [profile] = (await postern.call('loginprofile/search', { searchWord: `by ${kind}` })).list;
    assert.equal(profile.typeId, typeId, kind);
    assert.deepEqual(profile.configuration === '' ? '' : JSON.parse(profile.configuration), configuration, kind);
    await page.getByLabel('Description').fill('changed');
    await Promise.all([page.waitForResponse(/loginprofile\/update/), page.getByRole('button', { name: 'Save' }).click()]);
    const [after] = (await postern.call('loginprofile/search', { searchWord: `by ${kind}` })).list;
    assert.deepEqual([after.description, after.configuration, after.password], ['changed', profile.configuration, profile.password], kind);
  }
  assert.deepEqual(unexpectedErrors(consoleErrors), []);
});

/** Returns a configuration as an API client sends it, with real secrets. */
const configurationToSend = (kind: string) => JSON.stringify(kinds[kind]?.configuration).replaceAll('********', 'secret');

test('a login profile with a configuration shows its fields, and an edit of another field keeps the configuration', async (t) => {
  const { postern, page, navigate, consoleErrors } = await openSignedInConsole(t);
  for (const [kind, { typeId, fields, configuration }] of Object.entries(kinds)) {
    if (configuration === '') continue;
    const { id } = await postern.call('loginprofile/add', { title: `By ${kind}`, typeId, configuration: configurationToSend(kind) });
    await navigate(`/profiles/${id}`);
    for (const label of Object.keys(fields)) await page.getByLabel(label, { exact: true }).waitFor();
    await page.getByLabel('Description').fill('changed');
    await Promise.all([page.waitForResponse(/loginprofile\/update/), page.getByRole('button', { name: 'Save' }).click()]);
    const after = await postern.call('loginprofile/get', { id });
    assert.deepEqual([after.description, JSON.parse(after.configuration)], ['changed', configuration], kind);
  }
  assert.deepEqual(unexpectedErrors(consoleErrors), []);
});

test('a change that locks out visitors of a login profile shows a warning before it is saved', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  const { id } = await postern.call('loginprofile/add', { title: 'Clients', typeId: 3 });
  await go(`/profiles/${id}`);
  await page.getByText('Your own address is 127.0.0.1.').waitFor();
  await page.getByLabel('IP addresses', { exact: true }).fill('10.0.0.0/8');
  await page.getByText('Your own address is 127.0.0.1, which is not in this list.').waitFor();
  await page.getByText(/Visitors from other IP addresses lose access at once. The allowed IP addresses do not include your own./).waitFor();
  await page.getByLabel('IP addresses', { exact: true }).fill('10.0.0.0/40');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Not saved. Check the marked fields.').waitFor();
  assert.equal(await page.getByLabel('IP addresses', { exact: true }).getAttribute('aria-invalid'), 'true');
  await page.getByLabel('IP addresses', { exact: true }).fill('');
  await choose(page, 'One password');
  await page.getByText(/Everyone who is signed in with this profile will be signed out./).waitFor();
});

test('a login profile can get a new portal address, become the default, and be duplicated and deleted', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  const { id } = await postern.call('loginprofile/add', { title: 'Clients', typeId: 3 });
  const viewId = async () => (await postern.call('loginprofile/get', { id })).viewId;
  await go(`/profiles/${id}`);
  const chooseAction = async (name: string) => {
    await page.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('menuitem', { name }).click();
  };
  const before = await viewId();
  await chooseAction('Replace portal address');
  await page.getByRole('dialog').getByRole('button', { name: 'Replace address' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.notEqual(await viewId(), before);
  await chooseAction('Choose portal address');
  await page.getByRole('dialog').getByLabel('Address').fill('clients');
  await page.getByRole('dialog').getByRole('button', { name: 'Change address' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal(await viewId(), 'clients');
  await chooseAction('Set as default');
  await page.getByText('This is now the default login profile').waitFor();
  assert.equal((await postern.call('loginprofile/get')).id, id);
  await chooseAction('Duplicate');
  await page.getByRole('heading', { name: 'Clients (copy)' }).waitFor();
  await chooseAction('Delete');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'Login profiles', level: 1 }).waitFor();
});

test('a location can be added, tested by writing a file, and renamed', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  await go('/locations/new');
  await page.getByLabel('Name').fill('archive');
  await page.getByLabel('Folder on this server').fill('/nowhere at all');
  await page.getByRole('button', { name: 'Add' }).click();
  await page.getByText('Not saved. Check the marked fields.').waitFor();
  await page.getByLabel('Folder on this server').fill(postern.files);
  await page.getByRole('button', { name: 'Add' }).click();
  await page.getByRole('heading', { name: 'archive' }).waitFor();
  await page.getByRole('button', { name: 'Run test' }).click();
  await page.getByText('Write a test file').waitFor();
  await page.getByLabel('Name').fill('archive of 2026');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'archive of 2026' }).waitFor();
});

test('an S3 location can be added, its stored secret is not shown, and a change of the server requires the secret again', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  await go('/locations/new');
  await page.getByLabel('Name', { exact: true }).fill('reports');
  await page.getByRole('combobox', { name: 'Kind of storage' }).click();
  await page.getByRole('option', { name: 'Amazon S3 or compatible' }).click();
  await page.getByRole('button', { name: 'Add location' }).click();
  await page.getByText('Is required').nth(1).waitFor(); // bucket and region
  await page.getByLabel('Bucket', { exact: true }).fill('a/b');
  await page.getByLabel('Region').fill('eu-central-1');
  await page.getByLabel('Address of the service', { exact: true }).fill('http://127.0.0.1:9');
  await page.getByLabel('Access key ID').fill('an-id');
  await page.getByLabel('Secret access key').fill('a-secret');
  await page.getByLabel('Use the role of this machine').check();
  assert.equal(await page.getByLabel('Access key ID').count(), 0);
  await page.getByLabel('Use the role of this machine').uncheck();
  await assertAccessible(page, 'the form of an S3 location');
  const add = page.getByRole('button', { name: 'Add location' });
  await add.click();
  await page.getByText('Must be the name of a bucket').waitFor();
  await page.getByLabel('Bucket', { exact: true }).fill('reports');
  await add.click();
  await page.getByRole('button', { name: 'Run test' }).click();
  await page.getByText('is in a private network. The operator can allow it with POSTERN_PRIVATE_TARGETS').waitFor();
  assert.equal(await page.getByLabel('Secret access key').inputValue(), '********');
  await page.getByLabel('Address of the service', { exact: true }).fill('http://127.0.0.1:10');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Is required again, because the server has changed').waitFor();
  await page.getByLabel('Secret access key').fill('another-secret');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved. The change applies from now on.').waitFor();
  const location = (await postern.call('location/search', { searchWord: 'reports' })).list[0];
  assert.deepEqual(JSON.parse(location.configuration), {
    bucket: 'reports',
    endpoint: 'http://127.0.0.1:10',
    region: 'eu-central-1',
    accessKeyId: 'an-id',
    secretAccessKey: '********',
  });
});

test('a WebDAV location can be added, and its stored password is not shown', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  await go('/locations/new');
  await page.getByLabel('Name', { exact: true }).fill('reports');
  await page.getByRole('combobox', { name: 'Kind of storage' }).click();
  await page.getByRole('option', { name: 'WebDAV server' }).click();
  await page.getByLabel('Address of the server').fill('ftp://files.example.com');
  await page.getByLabel('User name').fill('postern');
  await page.getByRole('textbox', { name: 'Password' }).fill('a secret');
  await assertAccessible(page, 'the form of a WebDAV location');
  const add = page.getByRole('button', { name: 'Add location' });
  await add.click();
  await page.getByText('Must be an address such as').waitFor();
  await page.getByLabel('Address of the server').fill('http://127.0.0.1:9/dav');
  await add.click();
  await page.getByRole('button', { name: 'Run test' }).click();
  await page.getByText('is in a private network. The operator can allow it with POSTERN_PRIVATE_TARGETS').waitFor();
  assert.equal(await page.getByRole('textbox', { name: 'Password' }).inputValue(), '********');
  const location = (await postern.call('location/search', { searchWord: 'reports' })).list[0];
  assert.deepEqual(JSON.parse(location.configuration), { url: 'http://127.0.0.1:9/dav', username: 'postern', password: '********' });
});

test('an SFTP location can be added with a private key of several lines, and the stored key is not shown', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  const { private: privateKey, public: publicKey } = ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 });
  await go('/locations/new');
  await page.getByLabel('Name', { exact: true }).fill('reports');
  await page.getByRole('combobox', { name: 'Kind of storage' }).click();
  await page.getByRole('option', { name: 'SFTP server' }).click();
  await page.getByLabel('Server', { exact: true }).fill('127.0.0.1');
  await page.getByLabel('Port').fill('9');
  await page.getByLabel('Host key').fill(publicKey.replace('ecdsa', 'ecdsa-unknown'));
  await page.getByLabel('Folder').fill('/srv/files');
  await page.getByLabel('User name').fill('postern');
  await page.getByLabel('Private key, instead').fill(privateKey);
  await assertAccessible(page, 'the form of an SFTP location');
  const add = page.getByRole('button', { name: 'Add location' });
  await add.click();
  await page.getByText('Must be the public key of the server').waitFor();
  await page.getByLabel('Host key').fill(publicKey);
  await add.click();
  await page.getByRole('button', { name: 'Run test' }).click();
  await page.getByText('is in a private network. The operator can allow it with POSTERN_PRIVATE_TARGETS').waitFor();
  assert.equal(await page.getByLabel('Private key, instead').inputValue(), '********');
  const location = (await postern.call('location/search', { searchWord: 'reports' })).list[0];
  assert.deepEqual(JSON.parse(location.configuration), {
    ...{ host: '127.0.0.1', port: 9, hostKey: publicKey, root: '/srv/files', username: 'postern', privateKey: '********' },
  });
});

test('choosing a well-known provider fills in its settings, and the page shows the redirect URI to enter at the provider', async (t) => {
  const { postern, page, go } = await openSignedInConsole(t);
  await go('/profiles/new');
  await page.getByLabel('Title').fill('Staff');
  await choose(page, 'OpenID Connect');
  await page.getByRole('combobox', { name: 'Provider' }).click();
  await page.getByRole('option', { name: 'Keycloak' }).click();
  assert.equal(await page.getByLabel('Issuer', { exact: true }).inputValue(), 'https://YOUR-HOST/realms/YOUR-REALM');
  assert.equal(await page.getByLabel('Groups claim').inputValue(), 'groups');
  await assertAccessible(page, 'the form of an OpenID profile');
  await page.getByLabel('Issuer', { exact: true }).fill('http://login.example.com');
  await page.getByLabel('Client ID').fill('postern');
  await page.getByLabel('Client secret').fill('secret');
  await page.getByRole('button', { name: 'Create login profile' }).click();
  await page.getByText('must begin with https://, unless it is on this machine').waitFor();
  await page.getByLabel('Issuer', { exact: true }).fill('https://login.example.com/realms/staff');
  await page.getByRole('button', { name: 'Create login profile' }).click();
  await page.getByRole('heading', { name: 'Staff' }).waitFor();
  const [profile] = (await postern.call('loginprofile/search', { searchWord: 'staff' })).list;
  const address = `${postern.publicUrl}/sign-in/oidc/${profile.id}`;
  assert.equal(await page.getByLabel('Redirect URI').inputValue(), address);
});

test('choosing a kind of directory fills in the form, and the directory test shows the names by which shares can list a user', async (t) => {
  const missing = missingForDirectory();
  if (missing !== '') return t.skip(`not installed: ${missing}`);
  const directory = await startDirectory(t);
  const { postern, page, go, consoleErrors } = await openSignedInConsole(t, undefined, 'admin', {
    environment: { POSTERN_PRIVATE_TARGETS: '127.0.0.1' },
  });
  await go('/profiles/new');
  await page.getByLabel('Title').fill('Staff');
  await choose(page, 'LDAP');
  await page
    .getByRole('combobox', { name: 'Directory' })
    .or(page.getByRole('textbox', { name: 'Directory' }))
    .click();
  await page.getByRole('option', { name: 'OpenLDAP' }).click();
  assert.equal(await page.getByLabel('User filter').inputValue(), '(&(objectClass=inetOrgPerson)(uid={username}))');
  for (const [label, value] of Object.entries({
    'Server URL': directory.tlsUrl,
    'Certificates (PEM)': directory.ca,
    'Base DN': 'dc=test',
    'DN of the account': 'cn=reader,dc=test',
    'Password of the account': 'reader-secret',
  }))
    await page.getByLabel(label, { exact: true }).fill(value);
  await assertAccessible(page, 'the form of a directory');
  await page.getByRole('button', { name: 'Create login profile' }).click();
  await page.getByRole('heading', { name: 'Staff', exact: true }).waitFor();
  await page.getByLabel('User to test').fill('ann');
  await page.getByLabel('Password of the user').fill('ann-secret');
  await page.getByRole('button', { name: 'Run test' }).click();
  await page.getByText(/\(userNames\): ann, ann@example.com\. Groups \(groupNames\): "cn=editors,ou=groups,dc=test", editors\./).waitFor();
  await assertAccessible(page, 'the test of a directory');
  const [profile] = (await postern.call('loginprofile/search', { searchWord: 'Staff' })).list;
  assert.equal(JSON.parse(profile.configuration).groupsFrom, 'search');
  assert.deepEqual(unexpectedErrors(consoleErrors), []);
});

test('the test of a provider opens a window, in which the admin signs in and sees the user names that a share can list', async (t) => {
  const provider = await startOpenIdProvider(t, {
    ann: { email: 'ann@example.com', email_verified: true, name: 'Ann', groups: ['Editors'] },
  });
  provider.next = 'ann';
  const { postern, window, page, go, consoleErrors } = await openSignedInConsole(t, undefined, 'admin', {
    environment: { POSTERN_PRIVATE_TARGETS: '127.0.0.1' },
  });
  const configuration = JSON.stringify({ ...provider.configuration, groupsClaim: 'groups', scopes: 'openid email profile groups' });
  const { id } = await postern.call('loginprofile/add', { title: 'Staff', typeId: 5, configuration });
  provider.serve(`${postern.publicUrl}/sign-in/oidc/${id}`);
  await go(`/profiles/${id}`);
  const newWindow = window.waitForEvent('page');
  await page.getByRole('button', { name: 'Sign in to test' }).click();
  const result = await newWindow;
  await result.getByRole('heading', { name: 'The sign-in works' }).waitFor();
  await result.getByText('ann, ann@example.com').waitFor();
  await assertAccessible(result, 'the result of a test sign-in');
  assert.deepEqual(unexpectedErrors(consoleErrors), []);
});
