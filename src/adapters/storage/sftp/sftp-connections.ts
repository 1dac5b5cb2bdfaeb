import type { GroupMemory } from '#core/memory-budget.ts';
import type { SftpConfiguration } from '#core/records/location-configurations.ts';
import { connectSftp, type SftpServices } from './connect-sftp.ts';
import { SftpRefusal } from './sftp-errors.ts';
import type { SftpSession } from './sftp-session.ts';

const maxSessions = 4; // a server has a process for each session, which works on one request at a time
const maxUsers = 16; // of a connection, before another one is opened
const idleTime = 60_000; // ms until a connection without users is closed
const pauseAfterFailure = 3000; // ms during which no new connection is tried

/** The connections to the server of a location. They are opened when they are needed, and closed when they are not. */
export class SftpConnections {
  /** Returns a monotonic time in ms. */
  readonly monotonic: () => number;
  readonly #connect: () => Promise<SftpSession>;
  /** Memory for the pieces of files that are read before they are needed. */
  readonly readAhead: GroupMemory;
  #sessions: SftpSession[] = [];
  #opening: Promise<SftpSession> | null = null;
  #failure: { readonly error: unknown; readonly until: number } | null = null;

  /** @param monotonic returns a monotonic time in ms */
  constructor(configuration: SftpConfiguration, tid: number, services: SftpServices, monotonic: () => number) {
    this.#connect = () => connectSftp(configuration, tid, services);
    this.monotonic = monotonic;
    this.readAhead = services.readAhead.of(tid);
  }

  /** Runs requests that change nothing. If the connection is lost, they are sent once more over another one. */
  async read<T>(work: (session: SftpSession) => Promise<T>): Promise<T> {
    const session = await this.#session();
    try {
      return await this.#use(session, work);
    } catch (cause) {
      if (session.isOpen || cause instanceof SftpRefusal) throw cause;
      return this.#use(await this.#session(), work);
    }
  }

  /** Runs requests once. */
  async change<T>(work: (session: SftpSession) => Promise<T>): Promise<T> {
    return this.#use(await this.#session(), work);
  }

  /** Returns a connection for an open file or folder. Call `release` once. */
  async hold(): Promise<{ readonly session: SftpSession; readonly release: () => void }> {
    const session = await this.#session();
    session.users += 1;
    return { session, release: () => this.#release(session) };
  }

  async #use<T>(session: SftpSession, work: (session: SftpSession) => Promise<T>): Promise<T> {
    session.users += 1;
    try {
      return await work(session);
    } finally {
      this.#release(session);
    }
  }

  #release(session: SftpSession): void {
    session.users -= 1;
    if (session.users > 0 || !session.isOpen) return;
    const since = this.monotonic();
    session.idleSince = since;
    const timer = setTimeout(() => {
      if (session.users === 0 && session.isOpen && session.idleSince === since) session.close();
    }, idleTime);
    timer.unref();
  }

  /** @throws StorageUnavailable */
  async #session(): Promise<SftpSession> {
    this.#sessions = this.#sessions.filter(({ isOpen }) => isOpen);
    const [first, ...others] = this.#sessions;
    const leastUsed = others.reduce((least, session) => (session.users < (least?.users ?? 0) ? session : least), first);
    if (leastUsed && (leastUsed.users < maxUsers || this.#sessions.length >= maxSessions)) return leastUsed;
    this.#opening ??= this.#open().finally(() => {
      this.#opening = null;
    });
    if (!leastUsed) return this.#opening;
    this.#opening.catch(() => {}); // the open connections are enough
    return leastUsed;
  }

  async #open(): Promise<SftpSession> {
    if (this.#failure && this.#failure.until > this.monotonic()) throw this.#failure.error;
    try {
      const session = await this.#connect();
      this.#failure = null;
      this.#sessions.push(session);
      return session;
    } catch (error) {
      this.#failure = { error, until: this.monotonic() + pauseAfterFailure };
      throw error;
    }
  }
}
