import type { FileEntryWithStats, OpenMode, SFTPWrapper, Stats } from 'ssh2';
import { enforceMinRate } from '#adapters/storage/objects/enforce-min-rate.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { NoResponse, SftpRefusal, statusCodes } from './sftp-errors.ts';

const timeLimit = 30_000; // ms for a request
const syncTimeLimit = 300_000; // ms: a disk may have gigabytes to write

type Done<T> = (error?: (Error & { readonly code?: unknown }) | null, value?: T) => void;

const connectionLost = (cause?: unknown) => new StorageUnavailable('the connection to the server was lost', { cause });

/**
 * Sends requests over one connection (SFTP version 3). A method throws SftpRefusal, which is a StorageUnavailable, if the server
 * refuses, and another StorageUnavailable if the connection fails. A request that gets no answer in time ends the connection.
 */
export class SftpSession {
  readonly #sftp: SFTPWrapper;
  readonly #end: (hasPending: boolean) => void;
  readonly #rejectPending = new Set<(cause: Error) => void>();
  /** Number of requests, open files and lists that use the connection. */
  users = 0;
  /** When `users` became 0; monotonic time in ms. */
  idleSince = 0;
  isOpen = true;

  /** @param end closes the connection. `hasPending`: whether requests still wait for an answer */
  constructor(sftp: SFTPWrapper, end: (hasPending: boolean) => void) {
    this.#sftp = sftp;
    this.#end = end;
  }

  /** Closes the connection. Pending requests fail. */
  close(cause: Error = connectionLost()): void {
    this.isOpen = false;
    const hasPending = this.#rejectPending.size > 0;
    for (const reject of this.#rejectPending) reject(cause);
    this.#rejectPending.clear();
    this.#end(hasPending);
  }

  /** Returns the attributes of an item. Does not follow a symbolic link. */
  lstat(path: string): Promise<Stats> {
    return this.#send((sftp, done) => sftp.lstat(path, done));
  }

  stat(path: string): Promise<Stats> {
    return this.#send((sftp, done) => sftp.stat(path, done));
  }

  fstat(handle: Buffer): Promise<Stats> {
    return this.#send((sftp, done) => sftp.fstat(handle, done));
  }

  openFile(path: string, mode: OpenMode): Promise<Buffer> {
    return this.#send((sftp, done) => sftp.open(path, mode, done));
  }

  openFolder(path: string): Promise<Buffer> {
    return this.#send((sftp, done) => sftp.opendir(path, done));
  }

  /** Returns some entries, without `.` and `..`; null: there are no more. */
  readFolder(handle: Buffer): Promise<readonly FileEntryWithStats[] | null> {
    return this.#send<readonly FileEntryWithStats[]>((sftp, done) => sftp.readdir(handle, done)).catch((cause: unknown) => {
      if (cause instanceof SftpRefusal && cause.code === statusCodes.endOfFile) return null;
      throw cause;
    });
  }

  closeHandle(handle: Buffer): Promise<void> {
    return this.#send((sftp, done) => sftp.close(handle, done));
  }

  /**
   * Reads at a position.
   * @returns the bytes, which are fewer than `length` at the end of the file only
   * @throws StorageUnavailable also if the server sends too slowly, or too few bytes in each answer
   */
  async read(handle: Buffer, position: number, length: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafeSlow(length);
    let count = 0;
    for await (const piece of enforceMinRate(this.#pieces(handle, position, bytes), () => performance.now())) count += piece.length;
    return bytes.subarray(0, count);
  }

  /** Reads at a position until the buffer is full or the file ends. Yields the bytes of each answer. */
  async *#pieces(handle: Buffer, position: number, bytes: Buffer): AsyncGenerator<Uint8Array> {
    for (let offset = 0; offset < bytes.length; ) {
      const count = await this.#send<number>((sftp, done) =>
        sftp.read(handle, bytes, offset, bytes.length - offset, position + offset, (error, bytesRead) => done(error, bytesRead)),
      ).catch((cause: unknown) => {
        if (cause instanceof SftpRefusal && cause.code === statusCodes.endOfFile) return 0;
        throw cause;
      });
      if (count === 0) return;
      yield bytes.subarray(offset, offset + count);
      offset += count;
    }
  }

  write(handle: Buffer, position: number, bytes: Buffer): Promise<void> {
    return this.#send((sftp, done) => sftp.write(handle, bytes, 0, bytes.length, position, done));
  }

  makeFolder(path: string): Promise<void> {
    return this.#send((sftp, done) => sftp.mkdir(path, {}, done));
  }

  removeFile(path: string): Promise<void> {
    return this.#send((sftp, done) => sftp.unlink(path, done));
  }

  removeFolder(path: string): Promise<void> {
    return this.#send((sftp, done) => sftp.rmdir(path, done));
  }

  /** Renames an item. Most servers refuse a name that is taken. */
  rename(from: string, to: string): Promise<void> {
    return this.#send((sftp, done) => sftp.rename(from, to, done));
  }

  /** Renames a file, and replaces the file at `to` if there is one. @returns false if the server does not support this */
  renameOver(from: string, to: string): Promise<boolean> {
    return this.#sendExtension((sftp, done) => sftp.ext_openssh_rename(from, to, done), timeLimit);
  }

  /** Makes the bytes of a file durable, if the server has an extension for it. */
  async sync(handle: Buffer): Promise<void> {
    await this.#sendExtension((sftp, done) => sftp.ext_openssh_fsync(handle, done), syncTimeLimit);
  }

  /** @returns false if the server has no such extension: the library throws at once, or the server refuses the request */
  async #sendExtension(send: (sftp: SFTPWrapper, done: Done<void>) => void, limit: number): Promise<boolean> {
    let isKnown = true;
    await this.#send<void>((sftp, done) => {
      try {
        send(sftp, done);
      } catch (cause) {
        if (cause instanceof StorageUnavailable) throw cause;
        isKnown = false;
        done();
      }
    }, limit).catch((cause: unknown) => {
      if (!(cause instanceof SftpRefusal && cause.code === statusCodes.unsupported)) throw cause;
      isKnown = false;
    });
    return isKnown;
  }

  async #send<T>(send: (sftp: SFTPWrapper, done: Done<T>) => void, limit = timeLimit): Promise<T> {
    if (!this.isOpen) throw connectionLost();
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const timer = setTimeout(() => this.close(new NoResponse('the server does not respond')), limit);
    this.#rejectPending.add(reject);
    try {
      send(this.#sftp, (error, value) => {
        if (!error)
          resolve(value as T); // the library calls back with an error or with the value
        else if (typeof error.code === 'number') reject(new SftpRefusal(error.code, error));
        else reject(connectionLost(error));
      });
    } catch (cause) {
      this.close(cause instanceof StorageUnavailable ? cause : connectionLost(cause)); // a part of the request may have been sent
    }
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#rejectPending.delete(reject);
    }
  }
}
