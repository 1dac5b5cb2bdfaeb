import { constants } from 'node:crypto';
import { createTransport } from 'nodemailer';
import type { OutgoingMail, SendLane } from '#ports/mail.ts';
import { laneConnections, type SendFailure, type SmtpOptions } from './smtp-options.ts';

export interface SmtpConnections {
  /** Sends one mail. @returns null when the server has accepted it */
  send(mail: OutgoingMail, lane: SendLane, signal: AbortSignal): Promise<SendFailure | null>;
}

const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 60_000, dnsTimeout: 10_000 }; // ms
/** Time in ms for one mail. Without this limit, a server that sends a line from time to time would keep its connection forever. */
const sendTimeouts = { alerts: 120_000, codes: 60_000, tests: 60_000 } as const;
const idleTimeout = 30_000; // ms after which a connection without mails is closed

/** Creates the pool of connections of one lane. Only test mails wait for a free connection: callers limit the number of other mails. */
function openLane(options: SmtpOptions, lane: SendLane) {
  const { host, port, secure, requiresTls, credentials, ca } = options;
  return createTransport({
    ...{ pool: true, maxConnections: laneConnections[lane], maxMessages: Number.POSITIVE_INFINITY, idleTimeout },
    maxRequeues: 0, // Postern itself sends an interrupted mail again, and records each attempt
    ...{ host, port, secure, requireTLS: requiresTls, ...timeouts },
    ...(credentials ? { auth: { user: credentials.user, pass: credentials.password } } : {}),
    // With STARTTLS and without `ca`, a server on this machine may have a self-signed certificate. Any other server needs a valid one.
    tls: {
      minVersion: 'TLSv1.2',
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION, // as `startTenantTls`
      rejectUnauthorized: requiresTls || ca !== null,
      ...(ca === null ? {} : { ca }),
    },
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

/**
 * Returns the end of a message for people: the response of the server as one line without control characters, or a full stop if there is
 * none.
 */
const responseOf = ({ response }: SmtpError) =>
  typeof response === 'string' ? `: ${response.replace(/[\p{C}\s]+/gu, ' ').slice(0, maxResponseLength)}` : '.';

const connectionErrors: Readonly<Record<string, string>> = {
  EDNS: 'No address was found for the name of the mail server.',
  ECONNECTION: 'The connection to the mail server failed or was closed.',
  ESOCKET: 'The connection to the mail server failed or was closed.',
  ETIMEDOUT: 'The mail server did not respond in time.',
  ETLS: 'No TLS connection to the mail server is possible: it offers none, or its certificate is not trusted (POSTERN_SMTP_CA).',
  EABORT: 'Postern has stopped sending the mail.',
};

function failureOf(cause: unknown): SendFailure {
  if (!(cause instanceof Error)) return { kind: 'serverUnavailable', message: 'The mail could not be sent.' };
  const error: SmtpError = cause;
  const code = String(error.code);
  if (code === 'EAUTH' || code === 'ENOAUTH')
    return {
      kind: 'serverUnavailable',
      message: `The mail server refuses the user name and password of POSTERN_SMTP_URL${responseOf(error)}`,
    };
  if (code === 'ETLS') return { kind: 'serverUnavailable', message: `${connectionErrors[code]}` };
  const status = Number(error.responseCode);
  const isSender = error.command === 'MAIL FROM';
  if (status >= 500 && !isSender && ['EENVELOPE', 'EMESSAGE'].includes(code))
    return { kind: 'refused', message: `The mail server refuses this mail${responseOf(error)}` };
  if (status >= 500) return { kind: 'serverUnavailable', message: `The mail server refuses all mails of Postern${responseOf(error)}` };
  if (status >= 400) {
    const message = `The mail server refuses the mail for now${responseOf(error)}`;
    return { kind: status === 421 || isSender ? 'serverUnavailable' : 'delayed', message };
  }
  return { kind: 'serverUnavailable', message: connectionErrors[code] ?? `The mail server cannot be used (${code}).` };
}

/** Returns whether an error of the connection may concern one mail only: some servers close the connection because of a recipient. */
function mayConcernMail(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false;
  const { code, responseCode }: SmtpError = cause;
  return Number(responseCode) === 421 || ['ECONNECTION', 'ESOCKET', 'ETIMEDOUT'].includes(String(code));
}

/** Opens connections to the mail server as they are needed. */
export function smtpConnections(options: SmtpOptions): SmtpConnections {
  const lanes = { alerts: openLane(options, 'alerts'), codes: openLane(options, 'codes'), tests: openLane(options, 'tests') };
  const { from } = options;
  let check: Promise<boolean> | null = null;
  /** Returns whether the server accepts a new connection with our credentials. */
  function isAvailable(lane: SendLane): Promise<boolean> {
    check ??= lanes[lane]
      .verify()
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        check = null;
      });
    return check;
  }
  async function explain(cause: unknown, lane: SendLane): Promise<SendFailure> {
    const failure = failureOf(cause);
    if (failure.kind !== 'serverUnavailable' || !mayConcernMail(cause)) return failure;
    return (await isAvailable(lane)) ? { ...failure, kind: 'delayed' } : failure;
  }
  return {
    async send({ to, subject, text, html, messageId, date, headers }, lane, signal) {
      const timeout = AbortSignal.timeout(options.sendTimeout ?? sendTimeouts[lane]);
      try {
        await lanes[lane].sendMail({
          ...{ from: { name: '', address: from }, to: { name: '', address: to }, envelope: { from, to: [to] } },
          ...{ subject, text, html, messageId: `<${messageId}>`, date: new Date(date), headers: { ...headers } },
          signal: AbortSignal.any([signal, timeout]),
        });
        return null;
      } catch (cause) {
        // The server was reachable, because connecting has a shorter time limit. Perhaps only this recipient is slow.
        return timeout.aborted ? { kind: 'delayed', message: connectionErrors['ETIMEDOUT'] ?? '' } : explain(cause, lane);
      }
    },
  };
}
