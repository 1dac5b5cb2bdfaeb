import { DirectoryUnavailable } from '#ports/directory.ts';
import type { DirectoryConnection } from './directory-connection.ts';

const idleTime = 30_000; // ms
const maxIdle = 4; // connections of one configuration

interface IdleConnection {
  readonly connection: DirectoryConnection;
  readonly timer: NodeJS.Timeout;
}

/** Caches connections that are signed in with the account of a configuration. */
export class AccountConnections implements Disposable {
  readonly #idle = new Map<string, IdleConnection[]>();

  /**
   * Runs work on an idle connection of a configuration, or on a new one. If an idle connection fails, runs the work again on another.
   * @param open opens a new connection
   * @param signal aborted when the time for the requests is over
   */
  async use<T>(
    key: string,
    signal: AbortSignal,
    open: () => Promise<DirectoryConnection>,
    work: (connection: DirectoryConnection) => Promise<T>,
  ): Promise<T> {
    const idle = this.#take(key);
    const connection = idle ?? (await open());
    try {
      const result = await work(connection);
      this.#release(key, connection);
      return result;
    } catch (cause) {
      connection.close();
      // Directories close idle connections, so this error does not mean that a new connection would fail.
      if (idle && cause instanceof DirectoryUnavailable && !signal.aborted) return this.use(key, signal, open, work);
      throw cause;
    }
  }

  [Symbol.dispose](): void {
    for (const key of [...this.#idle.keys()]) for (let one = this.#take(key); one; one = this.#take(key)) one.close();
  }

  #take(key: string): DirectoryConnection | null {
    const idle = this.#idle.get(key)?.pop();
    if (this.#idle.get(key)?.length === 0) this.#idle.delete(key);
    if (!idle) return null;
    clearTimeout(idle.timer);
    return idle.connection.isOpen() ? idle.connection : this.#take(key);
  }

  #release(key: string, connection: DirectoryConnection): void {
    const idle = this.#idle.get(key) ?? [];
    if (idle.length >= maxIdle) {
      connection.close();
      return;
    }
    const timer = setTimeout(() => {
      idle.splice(idle.indexOf(idleConnection), 1);
      if (idle.length === 0) this.#idle.delete(key);
      connection.close();
    }, idleTime).unref();
    const idleConnection = { connection, timer };
    idle.push(idleConnection);
    this.#idle.set(key, idle);
  }
}
