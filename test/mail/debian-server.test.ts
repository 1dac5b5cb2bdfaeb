import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCertificate } from '../parts/certificate.ts';
import { type DebianMail, hasDebianSmtpServer, startDebianSmtpServer } from '../parts/debian-smtp-server.ts';
import { isInstalled } from '../parts/is-installed.ts';
import { until } from '../ports/until.ts';
import { startPostern, temporaryFolder } from '../start.ts';
import { linkTo } from '../visit/visiting.ts';
import { Browser } from './code-visitor.ts';
import { headerOf, passDigests, waitForDigests } from './mailing.ts';

const missing = [hasDebianSmtpServer() ? '' : 'python3-aiosmtpd', isInstalled('openssl') ? '' : 'openssl'].filter(Boolean).join(', ');

/** Checks the bytes of a mail by RFC 5322: ASCII headers, lines that end with CRLF and are not too long, the required headers. */
function assertWellFormed({ raw, to, secure }: DebianMail): void {
  assert.equal(secure, true);
  const text = raw.toString('latin1');
  assert.doesNotMatch(text.replaceAll('\r\n', ''), /[\r\n\0]/, 'every line ends with CRLF');
  for (const line of text.split('\r\n')) assert.ok(line.length <= 998, `a line of ${line.length} bytes`);
  assert.match(text, /^[\t -~\r\n]*$/, 'only ASCII, whatever the languages of the texts are');
  const head = text.split('\r\n\r\n', 1)[0] ?? '';
  for (const name of ['From', 'To', 'Subject', 'Date', 'Message-ID', 'MIME-Version', 'Auto-Submitted'])
    assert.equal(head.match(new RegExp(`^${name}:`, 'gim'))?.length, 1, name);
  assert.match(head, /^From: files@example\.com$/m);
  assert.match(head, new RegExp(`^To: ${to[0]?.replace('.', '\\.')}$`, 'm'));
  assert.match(head, /^Message-ID: <[\w-]+@example\.com>$/m);
  assert.match(head, /^Content-Type: multipart\/alternative;/m);
}

test('a mail server that shares no code with Postern receives alerts, invitations and codes over STARTTLS', {
  skip: missing !== '' && `not installed: ${missing}`,
}, async (t) => {
  const { certFile, keyFile } = createCertificate(await temporaryFolder(t));
  const server = await startDebianSmtpServer(t, certFile, keyFile);
  const environment = {
    POSTERN_SMTP_URL: `smtp://postern:secret@127.0.0.1:${server.port}`,
    POSTERN_SMTP_CA: certFile,
    POSTERN_MAIL_FROM: 'files@example.com',
    POSTERN_MAIL_LANG: 'ja',
  };
  const postern = await startPostern(t, { environment });
  const profile = await postern.call('loginprofile/add', { title: 'Clients', typeId: 4, configuration: '{"allow":["ann@example.com"]}' });
  const alerted = await linkTo(postern, { title: 'Jahresberichte für Zoë 📁', notifyEmails: 'ops@example.com', alertDownload: true });
  const share = await linkTo(postern, { authenticationId: profile.id });
  assert.equal((await postern.visit(`${alerted.base}/file/welcome.txt`)).status, 200);
  await postern.call('share/invite', { id: alerted.id, emails: 'bob@example.com', message: 'Grüße\r\n.\r\nQUIT\n' });
  await new Browser(postern).request(share.base, 'ann@example.com');
  await waitForDigests(postern, 1);
  await passDigests(postern);
  await until(() => server.mails.length === 3);
  for (const mail of server.mails) assertWellFormed(mail);
  const subjects = server.mails.map((mail) => [mail.to[0], headerOf({ ...mail, user: null, raw: mail.raw.toString('utf8') }, 'Subject')]);
  const subjectOf = Object.fromEntries(subjects);
  assert.match(subjectOf['ops@example.com'], /Jahresberichte für Zoë 📁/);
  assert.match(subjectOf['bob@example.com'], /Jahresberichte für Zoë 📁/);
  assert.match(subjectOf['ann@example.com'], /\d{4} \d{4}/);
});
