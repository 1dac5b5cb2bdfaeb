import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Client, ConnectConfig, SFTPWrapper } from 'ssh2';
import type { MemoryBudget } from '#core/memory-budget.ts';
import type { SftpConfiguration } from '#core/records/location-configurations.ts';
import { waitAtMost } from '#core/time-limit.ts';
import { type Outbound, TargetRefused, TargetUnreachable } from '#ports/outbound.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { parseHostKey } from './host-key.ts';
import { messageBudget } from './message-budget.ts';
import { KeyUnusable, type PrivateKeys } from './private-key.ts';
import { SignInRefused } from './sftp-errors.ts';
import { SftpSession } from './sftp-session.ts';
import { signInAgent } from './sign-in-agent.ts';

const timeLimit = 15_000; // ms for the connection; then the same time for the sign-in and the start of SFTP
const keepAlive = { keepaliveInterval: 15_000, keepaliveCountMax: 2 }; // ms: detects dead connections while they are idle

/**
 * Without key exchanges in which the server chooses primes, which may be costly, and without compression: data could expand without limit.
 */
const algorithms = {
  kex: ['curve25519-sha256', 'curve25519-sha256@libssh.org', 'ecdh-sha2-nistp256', 'ecdh-sha2-nistp384', 'diffie-hellman-group14-sha256'],
  compress: ['none'],
} as const satisfies ConnectConfig['algorithms'];

export interface SftpServices {
  readonly outbound: Pick<Outbound, 'connect'>;
  readonly keys: PrivateKeys;
  /** Memory for the pieces of files that are read before they are needed. */
  readonly readAhead: MemoryBudget;
  /** All open connections. */
  readonly sessions: Set<SftpSession>;
}

/** Returns the error for a connection that failed, in words for an operator. */
function connectError(cause: unknown, hasOtherKey: boolean): Error {
  if (hasOtherKey) return new StorageUnavailable('the server has another host key than hostKey', { cause });
  if (cause instanceof StorageUnavailable) return cause;
  if (cause instanceof KeyUnusable) return new StorageUnavailable(`privateKey ${cause.message}`, { cause });
  if (cause instanceof TargetRefused || cause instanceof TargetUnreachable) return new StorageUnavailable(cause.message, { cause });
  if (cause instanceof Error && 'level' in cause && cause.level === 'client-authentication')
    return new SignInRefused('the server does not accept the user name, the password or the key', { cause });
  return new StorageUnavailable('the server does not respond as an SSH server', { cause });
}

/** Resolves when the client may send requests. */
function waitUntilReady(client: Client, configuration: ConnectConfig, password: string | undefined): Promise<SFTPWrapper> {
  return new Promise((resolve, reject) => {
    client
      .on('error', reject)
      .on('close', () => reject(new StorageUnavailable('the server has closed the connection')))
      // Many servers ask for the password in this way.
      .on('keyboard-interactive', (_name, _instructions, _language, prompts, answer) => answer(prompts.map(() => password ?? '')))
      // A server may accept the sign-in again and again.
      .once('ready', () => client.sftp((error, sftp) => (error ? reject(error) : resolve(sftp))))
      .connect(configuration);
  });
}

/** Opens a connection to the server of a location. @throws SignInRefused; StorageUnavailable */
export async function connectSftp(
  configuration: SftpConfiguration,
  tid: number,
  { outbound, keys, sessions }: SftpServices,
): Promise<SftpSession> {
  const { host, port = 22, username, password, privateKey } = configuration;
  const hostKey = parseHostKey(configuration.hostKey);
  let hasOtherKey = false;
  let client: Client | null = null;
  try {
    if (!hostKey) throw new StorageUnavailable('hostKey is not the public key of a server');
    const key = privateKey === undefined ? null : await keys.read(configuration, tid);
    const { BaseAgent, Client: SshClient } = await import('./ssh-library.ts');
    const { socket } = await outbound.connect({ host, port, tid }, AbortSignal.timeout(timeLimit));
    if (!(socket instanceof Duplex)) throw new TypeError('a connection must be a stream of Node.js');
    client = new SshClient();
    const ready = waitUntilReady(
      client,
      {
        sock: socket,
        username,
        ...(password === undefined ? {} : { password, tryKeyboard: true }),
        ...(key === null ? {} : { agent: signInAgent(BaseAgent, key) }),
        hostVerifier: (sentKey: Buffer) => {
          hasOtherKey = !sentKey.equals(hostKey.bytes);
          return !hasOtherKey;
        },
        algorithms: { ...algorithms, serverHostKey: [...hostKey.algorithms] },
        readyTimeout: timeLimit,
        ...keepAlive,
        debug: messageBudget(),
      },
      password,
    );
    // `readyTimeout` covers the sign-in, but not the start of SFTP.
    const started = await waitAtMost(ready, timeLimit);
    if (started.late) throw new StorageUnavailable('the server has not started SFTP in time');
    return openSession(client, started.value, sessions, socket);
  } catch (cause) {
    client?.destroy();
    throw connectError(cause, hasOtherKey);
  }
}

function openSession(client: Client, sftp: SFTPWrapper, sessions: Set<SftpSession>, socket: Duplex): SftpSession {
  const session = new SftpSession(sftp, (hasPending) => {
    sessions.delete(session);
    // Without a reset, the system might still deliver a request after its time limit, when others may have changed the item.
    if (hasPending && socket instanceof Socket) socket.resetAndDestroy();
    client.destroy();
  });
  sessions.add(session);
  const end = (cause?: unknown) => {
    if (session.isOpen) session.close(cause instanceof StorageUnavailable ? cause : undefined);
  };
  client.removeAllListeners('error').removeAllListeners('close').on('error', end).on('close', end);
  sftp.on('error', end).on('close', end).on('end', end);
  return session;
}
