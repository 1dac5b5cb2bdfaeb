import { idleThread } from '#adapters/os/idle-thread.ts';
import { type Mail, MailRefused, MailUnavailable, type OutgoingMail, type SendLane } from '#ports/mail.ts';
import { concurrency, type SendFailure, type SmtpOptions } from './smtp-options.ts';
import type { SendResult, SendTask } from './smtp-thread.ts';

/** The mail server, the language of recipients whose language is not known, and the time zone of times in mails. */
export interface SmtpMailOptions extends SmtpOptions {
  readonly language: string;
  readonly timeZone: string;
}

const threadEnded: SendFailure = {
  kind: 'serverUnavailable',
  message: 'The thread that sends mail has ended. The next attempt starts another one.',
};

const errorOf = ({ kind, message }: SendFailure) =>
  kind === 'refused' ? new MailRefused(message) : new MailUnavailable(message, kind === 'serverUnavailable');

/** Returns a `Mail` that sends through a server, in a thread: visitors do not wait while thousands of mails are sent. */
export function smtpMail({ language, timeZone, ...options }: SmtpMailOptions): Mail {
  const waiting = new Map<number, PromiseWithResolvers<void>>();
  let lastId = 0;
  let hasFailed = false; // whether an attempt has failed with MailUnavailable since the thread was last idle

  function settle({ id, failure }: SendResult): void {
    if (failure) waiting.get(id)?.reject(errorOf(failure));
    else waiting.get(id)?.resolve();
  }
  const thread = idleThread<SendResult>(
    './smtp-thread',
    import.meta.url,
    {
      receive: settle,
      rejectPending() {
        for (const id of waiting.keys()) settle({ id, failure: threadEnded });
      },
      isIdle: () => waiting.size === 0,
    },
    () => options,
  );
  const post = (task: SendTask) => thread.post(task);
  /**
   * Called when no mail is being sent. Ends the thread after a failure: if a server has sent many blank lines, Nodemailer would process
   * them for minutes, even after the connection is closed.
   */
  function releaseThread(): void {
    if (hasFailed) thread.end();
    else thread.startIdleTimer();
    hasFailed = false;
  }
  return {
    language,
    timeZone,
    concurrency,
    domain: options.from.slice(options.from.lastIndexOf('@') + 1),
    async send(mail: OutgoingMail, lane: SendLane, signal: AbortSignal) {
      lastId += 1;
      const id = lastId;
      const attempt = Promise.withResolvers<void>();
      const abort = () => post({ abort: id });
      waiting.set(id, attempt);
      post({ id, mail, lane });
      signal.addEventListener('abort', abort, { once: true });
      if (signal.aborted) abort();
      try {
        await attempt.promise;
      } catch (cause) {
        hasFailed ||= cause instanceof MailUnavailable;
        throw cause;
      } finally {
        signal.removeEventListener('abort', abort);
        waiting.delete(id);
        if (waiting.size === 0) releaseThread();
      }
    },
    [Symbol.asyncDispose]: () => thread[Symbol.asyncDispose](),
  };
}
