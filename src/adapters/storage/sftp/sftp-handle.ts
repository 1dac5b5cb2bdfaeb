import type { OpenMode } from 'ssh2';
import type { SftpConnections } from './sftp-connections.ts';
import { nullIfMissing } from './sftp-errors.ts';
import type { SftpSession } from './sftp-session.ts';

/** An open file or folder, with the connection over which it was opened. */
export class SftpHandle {
  readonly session: SftpSession;
  readonly id: Buffer;
  readonly #release: () => void;
  #isClosed = false;

  constructor(session: SftpSession, id: Buffer, release: () => void) {
    this.session = session;
    this.id = id;
    this.#release = release;
  }

  /** Closes the file or folder. A second call does nothing. An error is ignored: a server closes all handles when the connection ends. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      if (this.session.isOpen) await this.session.closeHandle(this.id).catch(() => {});
    } finally {
      this.#release();
    }
  }
}

async function openHandle(connections: SftpConnections, open: (session: SftpSession) => Promise<Buffer>): Promise<SftpHandle | null> {
  const { session, release } = await connections.hold();
  try {
    const id = await nullIfMissing(open(session));
    if (id) return new SftpHandle(session, id, release);
  } catch (cause) {
    release();
    throw cause;
  }
  release();
  return null;
}

/** @returns null if the server says that there is no such file or folder */
export const openFileHandle = (connections: SftpConnections, path: string, mode: OpenMode): Promise<SftpHandle | null> =>
  openHandle(connections, (session) => session.openFile(path, mode));

/** @returns null if the server says that there is no such folder */
export const openFolderHandle = (connections: SftpConnections, path: string): Promise<SftpHandle | null> =>
  openHandle(connections, (session) => session.openFolder(path));
