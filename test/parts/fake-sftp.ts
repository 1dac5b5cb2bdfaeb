import { once } from 'node:events';
import { createServer } from 'node:net';
import type { TestContext } from 'node:test';
import ssh2, { type Connection, type SFTPWrapper } from 'ssh2';
import { guardedOutbound } from '#adapters/net/guarded-outbound.ts';
import { PrivateKeys } from '#adapters/storage/sftp/private-key.ts';
import { SftpConnections } from '#adapters/storage/sftp/sftp-connections.ts';
import { SftpItems } from '#adapters/storage/sftp/sftp-items.ts';
import type { SftpSession } from '#adapters/storage/sftp/sftp-session.ts';
import { storageMemory } from '#adapters/storage/storage-memory.ts';
import { packRangeText } from '#core/authorization/address-range.ts';
import { atEnd } from './at-end.ts';

export const folderStats = { mode: 0o40755, size: 0, mtime: 1, atime: 1, uid: 0, gid: 0 };

/** Returns a new ECDSA key pair. Ed25519 is not used: about one in 200 Ed25519 keys of the library ssh2 is malformed. */
export const newKeyPair = () => ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 });

/**
 * Starts a fake server that accepts every sign-in.
 * @param answer handles the requests of a connection
 * @param options `memory`: budget for removals of folders; `monotonic`: returns a time in ms; `connect`: is called with each new connection
 * @returns the files and folders of a location at this server
 */
export async function startFakeSftp(
  t: TestContext,
  answer: (sftp: SFTPWrapper, connection: Connection) => void,
  { memory = storageMemory(), monotonic = () => performance.now(), connect = (_connection: Connection) => {} } = {},
): Promise<SftpItems> {
  const { private: hostKey, public: publicKey } = newKeyPair();
  const sshServer = new ssh2.Server({ hostKeys: [hostKey] }, (connection: Connection) => {
    connect(connection);
    connection.on('authentication', (request) => request.accept()).on('error', () => {}); // the client may have disconnected
    connection.on('session', (accept) => accept().on('sftp', (acceptSftp) => answer(acceptSftp(), connection)));
  });
  const server = createServer({ noDelay: true }, (socket) => sshServer.injectSocket(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const outbound = guardedOutbound({ privateTargets: packRangeText('127.0.0.1') });
  const sessions = new Set<SftpSession>();
  atEnd(t, async () => {
    for (const session of sessions) session.close();
    await outbound[Symbol.asyncDispose]();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const configuration = { host: '127.0.0.1', port, username: 'files', password: 'x', hostKey: publicKey, root: '/' };
  const connections = new SftpConnections(
    configuration,
    1,
    { outbound, keys: new PrivateKeys(), sessions, readAhead: storageMemory() },
    monotonic,
  );
  return new SftpItems(connections, '/', Date.now, memory.of(1));
}
