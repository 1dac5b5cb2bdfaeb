import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { TestAuthority } from '../parts/signing-certificates.ts';
import { createToken, missingForToken } from '../parts/soft-hsm.ts';
import { certificateFile, certificatePassword } from '../parts/stored-certificate.ts';
import { assertAccessible, desktop, openSignedInConsole, unexpectedErrors } from './console.ts';

test('an admin uploads a certificate, tests it, sets a time-stamp authority, and deletes the certificate', async (t) => {
  const { postern, page, go, consoleErrors } = await openSignedInConsole(t);
  await go('/settings/signatures');
  await page.getByRole('heading', { name: 'No certificate' }).waitFor();
  await assertAccessible(page, 'without a certificate');
  await page.getByRole('button', { name: 'Upload certificate' }).click();
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByText('Choose a file').click()]);
  await chooser.setFiles({ name: 'signer.p12', mimeType: 'application/x-pkcs12', buffer: Buffer.from(certificateFile, 'base64') });
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Password of the file').first().fill('wrong');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('is not the password of the file').waitFor();
  await dialog.getByLabel('Password of the file').first().fill(certificatePassword);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('CN=Test signer, O=Acme').first().waitFor();
  await page.getByRole('button', { name: 'Run test' }).click();
  await page.getByText('Sign a page').waitFor();
  await assertAccessible(page, 'with a certificate');

  await page.getByRole('button', { name: 'Change', exact: true }).click();
  await dialog.getByLabel('Time-stamp authority').fill('https://tsa.example.com/');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('https://tsa.example.com/').waitFor();
  assert.equal((await postern.call('signature/get')).timestampUrl, 'https://tsa.example.com/');

  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'No certificate' }).waitFor();
  assert.deepEqual(unexpectedErrors(consoleErrors), []);
});

test('an admin uploads the certificate of a key in a PKCS #11 token', { skip: missingForToken() || false }, async (t) => {
  const token = await createToken(t);
  const authority = await TestAuthority.create(t);
  authority.issue('holder');
  token.importKey(join(authority.folder, 'holder.key'), '0a');
  const environment = { ...token.environment, POSTERN_PKCS11_KEYS: '1:0a' };
  const { page, go, consoleErrors } = await openSignedInConsole(t, desktop, 'admin', { environment });
  await go('/settings/signatures');
  await page.getByRole('button', { name: 'Upload certificate' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Private key').first().click();
  await page.getByRole('option', { name: 'Key 0a of the PKCS #11 token' }).click();
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), dialog.getByText('Choose a file').click()]);
  await chooser.setFiles({
    name: 'holder.pem',
    mimeType: 'application/x-pem-file',
    buffer: readFileSync(join(authority.folder, 'holder.pem')),
  });
  await assertAccessible(page, 'with a key of a token');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('key 0a of the PKCS #11 token').waitFor();
  await page.getByText('CN=holder, O=Acme').first().waitFor();
  assert.deepEqual(unexpectedErrors(consoleErrors), []);
});
