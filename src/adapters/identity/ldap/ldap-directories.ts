import type * as Library from 'ldapts';
import { TenantTurns } from '#adapters/os/tenant-turns.ts';
import { fillPattern } from '#core/ldap/ldap-text.ts';
import { type Directories, DirectoryRefused, DirectoryUnavailable, type TenantDirectory } from '#ports/directory.ts';
import type { Outbound } from '#ports/outbound.ts';
import { AccountConnections } from './account-connections.ts';
import { type BindCredentials, openBoundConnection, runOnConnection } from './bound-connection.ts';
import { searchUser } from './search-user.ts';

const timeLimit = 4500; // ms for the requests of one method: `Directories` promises that each method ends within five seconds
const pauseAfterFailure = 3000; // ms during which a directory that did not respond gets no request
const maxPauses = 1000;
const maxPassword = 1000; // characters

/**
 * Returns whether a password may be sent: it is not too long and not empty. With an empty one, a directory accepts any name (RFC 4513,
 * 5.1.2).
 */
const maySendPassword = (password: string) => password.trim() !== '' && !password.startsWith('\0') && password.length <= maxPassword;

/** Returns a DN that no user has. */
const unknownDn = ({ baseDn }: TenantDirectory) => `cn=postern-no-such-user,${baseDn}`;

/** Clocks: `now` returns ms since the epoch, `monotonic` returns ms of a monotonic clock. */
interface Clocks {
  now(): number;
  monotonic(): number;
}

/** Requests of one method. @param noteResponse call it when the directory has responded: a later error then pauses no requests */
type DirectoryRequest<T> = (library: typeof Library, signal: AbortSignal, noteResponse: () => void) => Promise<T>;

/** Queries LDAP directories with ldapts. If a directory does not respond, only requests with the same configuration fail. */
export class LdapDirectories implements Directories {
  readonly #outbound: Pick<Outbound, 'connect'>;
  readonly #clocks: Clocks;
  readonly #messageTurns: TenantTurns;
  readonly #accounts = new AccountConnections();
  readonly #pauses = new Map<string, { readonly until: number; readonly cause: DirectoryUnavailable }>();
  #library: Promise<typeof Library> | undefined;

  constructor(outbound: Pick<Outbound, 'connect'>, clocks: Clocks) {
    this.#outbound = outbound;
    this.#clocks = clocks;
    this.#messageTurns = new TenantTurns(clocks.monotonic);
  }

  find(directory: TenantDirectory, username: string) {
    const { bindDn = '', bindPassword = '' } = directory;
    return this.#request(directory, async (library, signal, noteResponse) => {
      const open = async () => {
        const connection = await this.#open(library, directory, { name: bindDn, password: bindPassword }, signal);
        noteResponse();
        if (!connection) throw new DirectoryRefused('The directory does not accept bindDn with bindPassword.');
        return connection;
      };
      return this.#accounts.use(JSON.stringify(directory), signal, open, (connection) =>
        runOnConnection(library, connection, signal, (client) =>
          searchUser(client, directory, { username, bindName: null }, this.#clocks.now()),
        ),
      );
    });
  }

  async verify(directory: TenantDirectory, dn: string | null, password: string) {
    if (!maySendPassword(password)) return false;
    return this.#request(directory, async (library, signal) => {
      const connection = await this.#open(library, directory, { name: dn ?? unknownDn(directory), password }, signal);
      connection?.close();
      return connection !== null && dn !== null;
    });
  }

  async signInByPattern(directory: TenantDirectory, username: string, password: string) {
    const bindName = fillPattern(directory.bindPattern ?? '', username);
    if (!maySendPassword(password) || bindName === null) return null;
    return this.#request(directory, async (library, signal, noteResponse) => {
      const connection = await this.#open(library, directory, { name: bindName, password }, signal);
      noteResponse();
      if (!connection) return null;
      try {
        return await runOnConnection(library, connection, signal, (client) =>
          searchUser(client, directory, { username, bindName }, this.#clocks.now()),
        );
      } finally {
        connection.close();
      }
    });
  }

  async [Symbol.asyncDispose]() {
    this.#accounts[Symbol.dispose]();
  }

  #open(library: typeof Library, directory: TenantDirectory, credentials: BindCredentials, signal: AbortSignal) {
    return openBoundConnection({ library, outbound: this.#outbound, messageTurns: this.#messageTurns }, directory, credentials, signal);
  }

  /** Runs all requests of a method with one deadline. @throws DirectoryUnavailable, DirectoryRefused */
  async #request<T>(directory: TenantDirectory, request: DirectoryRequest<T>): Promise<T> {
    const key = JSON.stringify(directory);
    const pause = this.#pauses.get(key);
    if (pause && pause.until > this.#clocks.monotonic()) throw pause.cause;
    this.#library ??= import('ldapts'); // loaded with the first request: most installations have no directory
    const library = await this.#library;
    let hasResponded = false;
    const noteResponse = () => {
      hasResponded = true;
    };
    try {
      return await request(library, AbortSignal.timeout(timeLimit), noteResponse);
    } catch (cause) {
      // An error that concerns one user, such as too long a response, must not pause the requests for all others.
      if (cause instanceof DirectoryUnavailable && !hasResponded) this.#pause(key, cause);
      throw cause;
    }
  }

  #pause(key: string, cause: DirectoryUnavailable): void {
    if (this.#pauses.size >= maxPauses) this.#pauses.clear();
    this.#pauses.set(key, { until: this.#clocks.monotonic() + pauseAfterFailure, cause });
  }
}
