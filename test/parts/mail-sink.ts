import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { atEnd } from './at-end.ts';

/** A mail as a server received it. */
export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Whether the connection used TLS. */
  readonly secure: boolean;
  readonly user: string | null;
  /** The message, headers included. */
  readonly raw: string;
}

export interface SinkOptions {
  readonly options?: SMTPServerOptions;
  readonly port?: number;
  /** Returns the SMTP reply that refuses a recipient, such as `550 no such mailbox`; null: the recipient is accepted. */
  readonly refuse?: (address: string) => string | null;
  /** Called before a message is accepted. An error refuses the message. */
  readonly beforeAccept?: (mail: ReceivedMail) => Promise<void>;
}

/** An SMTP server that keeps the mails that it accepts (npm smtp-server). */
export interface MailSink extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  readonly mails: ReceivedMail[];
  /** Closes all connections without an SMTP reply. */
  closeConnections(): void;
  /** Returns the first mail that fulfils a condition. Waits for one if none was received yet. */
  waitFor(condition?: (mail: ReceivedMail) => boolean): Promise<ReceivedMail>;
}

const smtpError = (answer: string) => Object.assign(new Error(answer.slice(4)), { responseCode: Number(answer.slice(0, 3)) });

/** Starts a server on the loopback interface, without TLS unless the options say otherwise. */
export async function startMailSink(t: TestContext, { options = {}, port = 0, refuse, beforeAccept }: SinkOptions = {}): Promise<MailSink> {
  const mails: ReceivedMail[] = [];
  const listeners = new Set<() => void>();
  const server = new SMTPServer({
    ...{ disabledCommands: ['STARTTLS'], authOptional: true, allowInsecureAuth: true, logger: false, closeTimeout: 100 },
    onAuth: ({ username = '' }, _session, done) => done(null, { user: username }),
    onRcptTo({ address }, _session, done) {
      const answer = refuse?.(address) ?? null;
      done(answer === null ? null : smtpError(answer));
    },
    onData(stream, session, done) {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', async () => {
        const { mailFrom, rcptTo } = session.envelope;
        const mail = {
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          secure: session.secure,
          user: session.user === undefined ? null : String(session.user),
          raw: Buffer.concat(parts).toString('utf8'),
        };
        try {
          await beforeAccept?.(mail);
        } catch (cause) {
          return done(cause instanceof Error ? cause : new Error('refused'));
        }
        mails.push(mail);
        for (const listener of listeners) listener();
        done();
      });
    },
    ...options,
  });
  const sockets = new Set<Socket>();
  server.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('error', () => {}); // a client that disconnects is no failure of the sink
  server.listen(port, '127.0.0.1');
  await once(server.server, 'listening');
  const address = server.server.address() as AddressInfo; // because the server listens on TCP
  const sink: MailSink = {
    port: address.port,
    url: `smtp://127.0.0.1:${address.port}`,
    mails,
    closeConnections() {
      for (const socket of sockets) socket.destroy();
    },
    async waitFor(condition = () => true) {
      for (;;) {
        const match = mails.find(condition);
        if (match) return match;
        const next = Promise.withResolvers<void>();
        listeners.add(next.resolve);
        await next.promise;
        listeners.delete(next.resolve);
      }
    },
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
  atEnd(t, () => sink[Symbol.asyncDispose]());
  return sink;
}
