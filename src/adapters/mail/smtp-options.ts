import { slowMails } from '#ports/mail.ts';

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
  /** Maximum time in ms for one mail. Default: one minute for a code, two minutes for another mail. */
  readonly sendTimeout?: number;
}

/** Why a mail was not sent: the mail server refuses this mail, cannot be used at present, or refuses it for now. */
export interface SendFailure {
  readonly kind: 'refused' | 'serverUnavailable' | 'delayed';
  /** For people, in plain words. */
  readonly message: string;
}

/** How many mails of each lane are sent at a time. */
export const concurrency = { alerts: 5, codes: 5 } as const;

/** How many connections there may be: for the mails above and slow ones, and for test mails. */
export const laneConnections = { alerts: concurrency.alerts + slowMails, codes: concurrency.codes + slowMails, tests: 4 } as const;
