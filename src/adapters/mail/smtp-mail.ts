import { createTransport } from 'nodemailer';
import { type Mail, type MailLane, MailRefused, MailUnavailable, type OutgoingMail } from '#ports/mail.ts';

/** How to reach the mail server. */
export interface SmtpOptions {
  readonly host: string;
  readonly port: number;
  /** true: TLS from the first byte; false: STARTTLS. */
  readonly secure: boolean;
  /** false: without STARTTLS, the connection is not encrypted. Only for a server on this machine. */
  readonly requiresTls: boolean;
  readonly credentials: { readonly user: string; readonly password: string } | null;
  /** PEM certificates to trust; null: those of Node.js. */
  readonly ca: string | null;
  readonly from: string;
  readonly language: string;
  readonly timeZone: string;
  /** Maximum time in ms for one mail. Default: one minute for a code, two minutes for another mail. */
  readonly sendTimeout?: number;
}

const concurrency = { alerts: 5, codes: 5 } as const;
const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 60_000, dnsTimeout: 10_000 }; // ms
/** Time in ms for one mail. A server that sends a line now and then would otherwise hold its connection forever. */
const sendTimeouts = { alerts: 120_000, codes: 60_000 } as const;
const idleTimeout = 30_000; // ms after which a connection without mails is closed

/** Opens the connections of one lane. The pool never holds a mail back: no more are sent at a time than it has connections. */
function openLane(options: SmtpOptions, lane: MailLane) {
  const { host, port, secure, requiresTls, credentials, ca } = options;
  return createTransport({
    ...{ pool: true, maxConnections: concurrency[lane], maxMessages: Number.POSITIVE_INFINITY, idleTimeout },
    maxRequeues: 0, // Postern itself sends an interrupted mail again, and records each attempt
    ...{ host, port, secure, requireTLS: requiresTls, ...timeouts },
    ...(credentials ? { auth: { user: credentials.user, pass: credentials.password } } : {}),
    // A server on this machine may have a certificate that nobody has signed. Any other server needs a valid certificate.
    tls: { minVersion: 'TLSv1.2', rejectUnauthorized: requiresTls || ca !== null, ...(ca === null ? {} : { ca }) },
    ...{ disableFileAccess: true, disableUrlAccess: true },
  });
}

interface SmtpError extends Error {
  readonly code?: unknown;
  readonly responseCode?: unknown;
  readonly response?: unknown;
  readonly command?: unknown;
}

const maxResponseLength = 300; // characters

/** Returns the response of the server, for people: one line without control characters. */
const responseOf = ({ response }: SmtpError) =>
  typeof response === 'string' ? `: ${response.replace(/[\p{C}\s]+/gu, ' ').slice(0, maxResponseLength)}` : '.';

const connectionErrors: Readonly<Record<string, string>> = {
  EDNS: 'The name of the mail server has no address.',
  ECONNECTION: 'The connection to the mail server failed or was closed.',
  ESOCKET: 'The connection to the mail server failed or was closed.',
  ETIMEDOUT: 'The mail server did not respond in time.',
  ETLS: 'No TLS connection to the mail server is possible: it offers none, or its certificate is not trusted (POSTERN_SMTP_CA).',
  EREQUIRETLS: 'The mail server offers no TLS. Postern does not send mail unencrypted.',
  EABORT: 'Postern has stopped sending the mail.',
};

/** Returns the error of the port for an error of the library. */
function asMailError(cause: unknown): Error {
  if (!(cause instanceof Error)) return new MailUnavailable('The mail could not be sent.', true);
  const error: SmtpError = cause;
  const code = String(error.code);
  if (code === 'EAUTH' || code === 'ENOAUTH')
    return new MailUnavailable(`The mail server refuses the user name and password of POSTERN_SMTP_URL${responseOf(error)}`, true, {
      cause,
    });
  if (code === 'ETLS' || code === 'EREQUIRETLS') return new MailUnavailable(`${connectionErrors[code]}`, true, { cause });
  const status = Number(error.responseCode);
  const isSender = error.command === 'MAIL FROM';
  if (status >= 500 && !isSender && ['EENVELOPE', 'EMESSAGE'].includes(code))
    return new MailRefused(`The mail server refuses this mail${responseOf(error)}`, { cause });
  if (status >= 500) return new MailUnavailable(`The mail server refuses all mails of Postern${responseOf(error)}`, true, { cause });
  if (status >= 400)
    return new MailUnavailable(`The mail server refuses the mail for now${responseOf(error)}`, status === 421 || isSender, { cause });
  return new MailUnavailable(connectionErrors[code] ?? `The mail server cannot be used (${code}).`, true, { cause });
}

/** Returns a port that sends mail through a server. */
export function smtpMail(options: SmtpOptions): Mail {
  const lanes = { alerts: openLane(options, 'alerts'), codes: openLane(options, 'codes') };
  const { from, language, timeZone } = options;
  return {
    language,
    timeZone,
    concurrency,
    domain: from.slice(from.lastIndexOf('@') + 1),
    async send({ to, subject, text, html, messageId, date, headers }: OutgoingMail, lane, signal) {
      const timeout = AbortSignal.timeout(options.sendTimeout ?? sendTimeouts[lane]);
      try {
        await lanes[lane].sendMail({
          ...{ from: { name: '', address: from }, to: { name: '', address: to }, envelope: { from, to: [to] } },
          ...{ subject, text, html, messageId: `<${messageId}>`, date: new Date(date), headers: { ...headers } },
          signal: AbortSignal.any([signal, timeout]),
        });
      } catch (cause) {
        if (timeout.aborted) throw new MailUnavailable(connectionErrors['ETIMEDOUT'] ?? '', true, { cause });
        throw asMailError(cause);
      }
    },
    async [Symbol.asyncDispose]() {
      for (const lane of Object.values(lanes)) lane.close();
    },
  };
}
