import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startMailSink } from '../parts/mail-sink.ts';
import { newShare } from '../start.ts';
import { assertAccessible, openSignedInConsole } from './console.ts';

test('an operator invites visitors by e-mail, sees why a mail was not delivered, and sends a test mail', async (t) => {
  const sink = await startMailSink(t, { refuse: (address) => (address.startsWith('nobody') ? '550 no such mailbox' : null) });
  const environment = { POSTERN_SMTP_URL: sink.url, POSTERN_MAIL_FROM: 'files@example.com' };
  const { postern, page, go } = await openSignedInConsole(t, undefined, 'admin', { environment });
  const { id } = await postern.call('share/add', newShare({ title: 'Reports' }));
  await go(`/shares/${id}`);
  await page.getByRole('button', { name: 'Actions' }).click();
  await page.getByRole('menuitem', { name: 'Invite by e-mail' }).click();
  const dialog = page.getByRole('dialog');
  const recipients = dialog.getByPlaceholder('ann@example.com');
  for (const name of ['ann@example.com', 'nobody@example.com']) {
    await recipients.fill(name);
    await recipients.press('Enter');
  }
  await dialog.getByLabel('Message').fill('Please have a look.');
  await assertAccessible(page, 'the dialog of an invitation');
  await page.getByRole('button', { name: 'Send invitations' }).click();
  await page.getByText('2 invitations will be sent.').waitFor();
  assert.match((await sink.waitFor()).raw, /Please have a look\./);
  await go('/settings/mail');
  await page.getByText('ann@example.com').waitFor();
  await page.getByText('550 no such mailbox').waitFor();
  await assertAccessible(page, 'the list of mails');
  await page.getByRole('button', { name: 'Send test e-mail' }).click();
  await page.getByLabel('Recipient', { exact: true }).fill('bob@example.com');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText('The mail server has accepted the e-mail').waitFor();
  assert.equal(sink.mails.at(-1)?.to[0], 'bob@example.com');
  await page.getByLabel('Recipient', { exact: true }).fill('nobody@example.com');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText('The e-mail was not sent').waitFor();
});
