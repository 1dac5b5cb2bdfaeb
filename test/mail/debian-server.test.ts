import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createCertificate } from '../parts/certificate.ts';
import { type DebianMail, hasDebianSmtpServer, startDebianSmtpServer } from '../parts/debian-smtp-server.ts';
import { isInstalled } from '../parts/is-installed.ts';
import { until } from '../ports/until.ts';
import { createUsersProfile, startPostern, temporaryFolder } from '../start.ts';
import { createShare, jsonPostRequest } from '../visit/visiting.ts';
import { Browser } from './code-visitor.ts';
import { headerOf, makeDigestsDue, textOf, waitForDigests } from './mailing.ts';

const missing = [hasDebianSmtpServer() ? '' : 'python3-aiosmtpd', isInstalled('openssl') ? '' : 'openssl'].filter(Boolean).join(', ');

/** Checks that a mail came over TLS, is well-formed (RFC 5322), and has each expected header once. */
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

/** Each alert, with a request that causes it, and the beginning of its line in the mail. */
const alerts = {
  alertView: { path: '/view/welcome.txt', init: {}, line: '- 閲覧:' },
  alertDownload: { path: '/file/welcome.txt', init: {}, line: '- ダウンロード:' },
  alertUpload: { path: '/file/new.txt', init: { method: 'PUT', body: 'four' }, line: '- アップロード:' },
  alertCreateFolder: { path: '/folder/Ordner', init: { method: 'POST' }, line: '- フォルダーを作成:' },
  alertRename: { path: '/rename', init: jsonPostRequest({ path: 'old.txt', name: 'Grüße.txt' }), line: '- 名前を変更:' },
  alertDelete: { path: '/file/gone.txt', init: { method: 'DELETE' }, line: '- 削除:' },
} as const;

const decodeMail = (mail: DebianMail) => ({ ...mail, user: null, raw: mail.raw.toString('utf8') });

test('a mail server that shares no code with Postern receives each alert, invitation and code over STARTTLS', {
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
  for (const name of ['old.txt', 'gone.txt']) writeFileSync(join(postern.files, name), '');
  const title = 'Jahresberichte für Zoë 📁';
  for (const [alert, { path, init }] of Object.entries(alerts)) {
    const { base } = await createShare(postern, { title, notifyEmails: `${alert}@example.com`, [alert]: true });
    assert.ok((await postern.visit(base + path, init)).status < 300, alert);
  }
  const codes = await postern.call('loginprofile/add', { title: 'Clients', typeId: 4, configuration: '{"allow":["ann@example.com"]}' });
  const share = await createShare(postern, { title, authenticationId: codes.id });
  await postern.call('share/invite', { id: share.id, emails: 'bob@example.com', message: 'Grüße\r\n.\r\nQUIT\n' });
  await new Browser(postern).request(share.base, 'ann@example.com');
  const passwords = await createShare(postern, { authenticationId: (await createUsersProfile(postern, ['carol'])).id });
  await new Browser(postern).send(`${passwords.base}/password/code`, jsonPostRequest({ email: 'carol@example.com' }));
  await waitForDigests(postern, 6);
  await makeDigestsDue(postern);
  await until(() => server.mails.length === 9);
  for (const mail of server.mails) assertWellFormed(mail);
  const mailTo = Object.fromEntries(server.mails.map((mail) => [mail.to[0], decodeMail(mail)]));
  for (const [alert, { line }] of Object.entries(alerts)) {
    const mail = mailTo[`${alert}@example.com`] ?? assert.fail(alert);
    assert.ok(headerOf(mail, 'Subject').startsWith(title));
    assert.ok(textOf(mail).includes(line), textOf(mail));
  }
  const subjectTo = (name: string) => headerOf(mailTo[`${name}@example.com`], 'Subject');
  assert.ok(subjectTo('bob').includes(title));
  for (const name of ['ann', 'carol']) assert.match(subjectTo(name), /\d{4} \d{4}/);
});
