import { readFileSync } from 'node:fs';
import { hostOf } from '#core/host-of.ts';
import { isLoopbackHost } from '#core/loopback.ts';
import { parseEmail } from '#core/mail/email.ts';
import { languages } from '#core/translations/languages.ts';
import { setting } from './setting.ts';
import { fail, parseOptional } from './setting-values.ts';

/** A mail server, and how Postern signs in there. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** true: TLS from the first byte; false: STARTTLS, if the server offers it or `requiresTls` is true. */
  readonly secure: boolean;
  /** false only for a server on this machine: without TLS, others could read the mails and the password. */
  readonly requiresTls: boolean;
  readonly credentials: { readonly user: string; readonly password: string } | null;
}

const urlForm = 'must be smtps://user:password@host:port, or smtp:// for a server with STARTTLS';
const defaultPorts = { 'smtps:': 465, 'smtp:': 587 } as const;

const isSmtp = (protocol: string): protocol is keyof typeof defaultPorts => protocol in defaultPorts;

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return fail('contains a % that does not begin a percent-encoded character: write % as %25');
  }
}

function parseSmtpUrl(value: string): SmtpServer {
  const url = URL.canParse(value) ? new URL(value) : fail(urlForm);
  const { protocol, hostname, search, hash, pathname, username, password } = url;
  if (!isSmtp(protocol)) return fail(urlForm);
  if (hostname === '' || !['', '/'].includes(pathname)) return fail(urlForm);
  if (search || hash) return fail('must not have a query or a fragment: options such as switching off TLS are not supported');
  if ((username === '') !== (password === '')) return fail('must have a user name and a password, or neither');
  const host = hostOf(hostname);
  return {
    host,
    port: url.port === '' ? defaultPorts[protocol] : Number(url.port),
    secure: protocol === 'smtps:',
    requiresTls: protocol === 'smtps:' || !isLoopbackHost(host),
    credentials: username === '' ? null : { user: decode(username), password: decode(password) },
  };
}

function readCertificates(file: string): string {
  const text = readFileSync(file, 'utf8');
  return text.includes('-----BEGIN CERTIFICATE-----') ? text : fail(`names ${file}, which contains no certificate in PEM format`);
}

const parseAddress = (value: string) => parseEmail(value) ?? fail('must be an e-mail address such as files@example.com');

const parseLanguage = (value: string) => languages.find((language) => language === value) ?? fail(`must be one of ${languages.join(', ')}`);

function parseTimeZone(value: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone;
  } catch {
    return fail('must be a time zone such as Europe/Berlin or UTC');
  }
}

export const mailSettingDefinitions = {
  smtp: setting(
    'POSTERN_SMTP_URL',
    '',
    'Mail server: `smtps://user:password@host:465`, or `smtp://user:password@host:587` for a server with STARTTLS. Without it, Postern sends no mail. A server without TLS is refused, except on this machine.',
    parseOptional(parseSmtpUrl),
  ),
  smtpCa: setting(
    'POSTERN_SMTP_CA',
    '',
    "File with the certificates, in PEM format, that the mail server's certificate is checked against; those of Node.js if not set.",
    parseOptional(readCertificates),
  ),
  mailFrom: setting('POSTERN_MAIL_FROM', '', 'Address that mails are sent from.', parseOptional(parseAddress)),
  mailLanguage: setting(
    'POSTERN_MAIL_LANG',
    'en',
    `Language of mails to recipients whose language is not known: ${languages.join(', ')}.`,
    parseLanguage,
  ),
  mailTimeZone: setting('POSTERN_MAIL_TIME_ZONE', 'UTC', 'Time zone of the times in mails, such as `Europe/Berlin`.', parseTimeZone),
};

export interface MailSettings {
  readonly server: SmtpServer;
  readonly ca: string | null;
  readonly from: string;
  readonly language: string;
  readonly timeZone: string;
}
