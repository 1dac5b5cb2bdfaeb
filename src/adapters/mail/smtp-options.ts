import { maxSlowMails } from '#ports/mail.ts';

export interface SmtpOptions {
  readonly host: string;
  readonly port: number;
  /** true: TLS from the first byte; false: STARTTLS, if the server offers it or `requiresTls` is true. */
  readonly secure: boolean;
  /**
   * false: if the server does not offer STARTTLS, the connection is not encrypted. Without `ca`, the certificate of the
   * server is not verified. Only for a server on this machine.
   */
  readonly requiresTls: boolean;
  readonly credentials: { readonly user: string; readonly password: string } | null;
  /** PEM certificates to trust; null: those of Node.js. */
  readonly ca: string | null;
  readonly from: string;
  /** Maximum time in ms for one mail. Default: two minutes for an alert or invitation, one minute for a code or a test mail. */
  readonly sendTimeout?: number;
}

/**
 * Why a mail was not sent. refused: the mail server refuses this mail. serverUnavailable: the server cannot be used at present, or Postern
 * stopped the attempt. delayed: the server refuses this mail for now, takes too long for it, or closed its connection but accepts new ones.
 */
export interface SendFailure {
  readonly kind: 'refused' | 'serverUnavailable' | 'delayed';
  /** For people, in plain words. */
  readonly message: string;
}

/** How many mails of each lane are sent at a time, in addition to slow mails (`maxSlowMails`). */
export const concurrency = { alerts: 5, codes: 5 } as const;

/** Maximum number of connections of each lane: one for each concurrent mail, and more for slow mails. Test mails have their own. */
export const laneConnections = { alerts: concurrency.alerts + maxSlowMails, codes: concurrency.codes + maxSlowMails, tests: 4 } as const;
