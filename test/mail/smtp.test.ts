import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { type SmtpMailOptions, smtpMail } from '../../src/adapters/mail/smtp-mail.ts';
import { InvalidSetting, readSettings } from '../../src/settings/settings.ts';
import { atEnd } from '../parts/at-end.ts';
import { createCertificate } from '../parts/certificate.ts';
import { isInstalled } from '../parts/is-installed.ts';
import { startMailSink } from '../parts/mail-sink.ts';
import { temporaryFolder } from '../start.ts';

const message = { to: 'ann@example.com', subject: 'Hello', text: 'text', html: '<p>html', messageId: 'a@b.example', date: 0, headers: {} };
const common = { credentials: null, ca: null, from: 'files@example.com', language: 'en', timeZone: 'UTC' };

function openMail(t: TestContext, options: Omit<SmtpMailOptions, keyof typeof common> & Partial<SmtpMailOptions>) {
  const mail = smtpMail({ ...common, ...options });
  t.after(() => mail[Symbol.asyncDispose]());
  return (over = {}) => mail.send({ ...message, ...over }, 'alerts', AbortSignal.timeout(20_000));
}

const needsOpenssl = { skip: isInstalled('openssl') ? false : 'openssl is not installed' };

test('if TLS is required, no mail is sent to a server that does not offer it', async (t) => {
  const sink = await startMailSink(t);
  const credentials = { user: 'postern', password: 'secret' };
  const send = openMail(t, { host: '127.0.0.1', port: sink.port, secure: false, requiresTls: true, credentials });
  await assert.rejects(send(), { affectsAllMails: true, message: /TLS/ });
  assert.deepEqual(sink.mails, []);
});

test('mail is sent over STARTTLS or TLS, and only to a server with a trusted certificate', needsOpenssl, async (t) => {
  const { key, cert } = createCertificate(await temporaryFolder(t));
  for (const secure of [false, true]) {
    const sink = await startMailSink(t, { options: { key, cert, secure, disabledCommands: [] } });
    const server = { host: '127.0.0.1', port: sink.port, secure, requiresTls: true };
    await assert.rejects(openMail(t, server)(), { affectsAllMails: true });
    const credentials = { user: 'postern', password: 'secret' };
    await openMail(t, { ...server, ca: cert, credentials })();
    assert.deepEqual(
      sink.mails.map((mail) => [mail.secure, mail.user]),
      [[true, 'postern']],
    );
  }
});

test('a wrong password for the mail server is reported as an error of the settings, not of the mail', async (t) => {
  const options = { onAuth: (_auth: unknown, _session: unknown, done: (cause: Error) => void) => done(new Error('no')) };
  const sink = await startMailSink(t, { options });
  const credentials = { user: 'postern', password: 'wrong' };
  const send = openMail(t, { host: '127.0.0.1', port: sink.port, secure: false, requiresTls: false, credentials });
  await assert.rejects(send(), { affectsAllMails: true, message: /refuses the user name and password/ });
});

test('an invalid mail setting prevents the start, and the error says what is allowed', () => {
  const from = { POSTERN_MAIL_FROM: 'files@example.com' };
  for (const [environment, error] of [
    [{ POSTERN_SMTP_URL: 'smtp://mail.example.com' }, /POSTERN_SMTP_URL needs POSTERN_MAIL_FROM/],
    [{ ...from, POSTERN_SMTP_URL: 'smtp://mail.example.com?ignoreTLS=true' }, /POSTERN_SMTP_URL must not have a query/],
    [{ ...from, POSTERN_SMTP_URL: 'http://mail.example.com' }, /POSTERN_SMTP_URL must be smtps:/],
    [{ ...from, POSTERN_SMTP_URL: 'smtp://user@mail.example.com' }, /a user name and a password, or neither/],
    [{ POSTERN_MAIL_FROM: 'files@example.com, other@example.com' }, /POSTERN_MAIL_FROM must be an e-mail address/],
    [{ POSTERN_MAIL_LANG: 'sv' }, /POSTERN_MAIL_LANG must be one of en, de/],
    [{ POSTERN_MAIL_TIME_ZONE: 'Mars/North' }, /POSTERN_MAIL_TIME_ZONE must be a time zone/],
  ] as const)
    assert.throws(
      () => readSettings(environment),
      (cause) => cause instanceof InvalidSetting && error.test(cause.message),
    );
  const { mail } = readSettings({ ...from, POSTERN_SMTP_URL: 'smtps://a%40b:p%3Aw@mail.example.com' });
  assert.deepEqual(mail?.server, {
    ...{ host: 'mail.example.com', port: 465, secure: true, requiresTls: true },
    credentials: { user: 'a@b', password: 'p:w' },
  });
});

test('a recipient for whom the server answers 421 or closes the connection delays only the mail to this recipient', async (t) => {
  const sink = await startMailSink(t, {
    options: {
      onRcptTo({ address }, _session, done) {
        if (address.startsWith('closed')) sink.closeConnections();
        else done(Object.assign(new Error('try later'), { responseCode: 421 }));
      },
    },
  });
  const send = openMail(t, { host: '127.0.0.1', port: sink.port, secure: false, requiresTls: false });
  for (const to of ['closed@example.com', 'refused@example.com']) await assert.rejects(send({ to }), { affectsAllMails: false });
  await sink[Symbol.asyncDispose]();
  await assert.rejects(send(), { affectsAllMails: true });
});

test('a server whose response never ends delays a mail for a limited time, and the next mail uses a new connection', async (t) => {
  let sendsLines = true;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.write('220 mail.test\r\n');
    socket.on('data', () => {
      if (!sendsLines) return;
      const timer = setInterval(() => socket.write('250-more\r\n'), 10);
      socket.once('close', () => clearInterval(timer));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(t, () => new Promise<void>((resolve) => server.close(() => resolve())));
  const { port } = server.address() as AddressInfo; // the server listens on TCP
  const send = openMail(t, { host: '127.0.0.1', port, secure: false, requiresTls: false, sendTimeout: 300 });
  await assert.rejects(send(), { affectsAllMails: false, message: /did not respond in time/ });
  sendsLines = false;
  await assert.rejects(send(), { affectsAllMails: false, message: /did not respond in time/ }); // a new connection, which gets only the greeting
});

test('after a server has sent thousands of blank lines, the next mail is sent by another thread, which does not have to read them', async (t) => {
  const threads: Worker[] = [];
  const addThread = (thread: Worker) => threads.push(thread);
  process.on('worker', addThread);
  t.after(() => process.off('worker', addThread));
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.write('\r\n'.repeat(500_000));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // the server listens on TCP
  const mail = smtpMail({ ...common, host: '127.0.0.1', port, secure: false, requiresTls: false, sendTimeout: 2000 });
  t.after(() => mail[Symbol.asyncDispose]());
  await assert.rejects(mail.send(message, 'alerts', AbortSignal.timeout(20_000)), { affectsAllMails: false });
  const [floodedThread] = threads;
  assert.ok(floodedThread);
  await new Promise<void>((resolve) => server.close(() => resolve()));
  const sink = await startMailSink(t, { port });
  await mail.send(message, 'alerts', AbortSignal.timeout(20_000));
  assert.equal(sink.mails.length, 1);
  assert.equal(threads.length, 2);
});
