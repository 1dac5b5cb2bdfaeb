/** A mail to one recipient. */
export interface OutgoingMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Message-ID without angle brackets. A mail that is sent again has the same one, so that mail programs recognize it. */
  readonly messageId: string;
  /** Date of the mail, in ms since the epoch. Further attempts have the same one. `mail/retry` sends the mail with a new one. */
  readonly date: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Mails of a lane wait only for mails of the same lane: a sign-in code does not wait behind alerts. */
export type MailLane = 'alerts' | 'codes';

/** A lane of deliveries, or the lane of test mails, which are not enqueued and delay no delivery. */
export type SendLane = MailLane | 'tests';

/** How many slow mails of a lane may be sent at a time in addition to the others. A mail server may need minutes to check a recipient. */
export const maxSlowMails = 20;

/** Sends mail through the mail server of the settings. */
export interface Mail extends AsyncDisposable {
  /** Language of recipients whose language is not known, and time zone of the times in mails. */
  readonly language: string;
  readonly timeZone: string;
  /** Domain for Message-IDs. */
  readonly domain: string;
  /** How many mails of each lane can be sent at a time, besides slow ones (`maxSlowMails`). */
  readonly concurrency: Readonly<Record<MailLane, number>>;
  /**
   * Sends one mail. Resolves when the server has accepted it.
   * @throws MailRefused, MailUnavailable
   */
  send(mail: OutgoingMail, lane: SendLane, signal: AbortSignal): Promise<void>;
}

/**
 * The server refuses this mail permanently, for example because there is no such mailbox. The message says what the
 * server answered.
 */
export class MailRefused extends Error {}

/** The server has not confirmed that it accepts the mail. A later attempt may succeed. The message says in plain words what went wrong. */
export class MailUnavailable extends Error {
  /** true: no mail can be sent at present, to any recipient. */
  readonly affectsAllMails: boolean;

  constructor(message: string, affectsAllMails: boolean, options?: ErrorOptions) {
    super(message, options);
    this.affectsAllMails = affectsAllMails;
  }
}
