import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SftpConfiguration } from '#core/records/location-configurations.ts';
import { freePort } from './free-port.ts';
import { isInstalled } from './is-installed.ts';
import { endServer } from './webdav-servers.ts';

export interface SftpTestServer extends AsyncDisposable {
  /** Folder of all locations. */
  readonly folder: string;
  /** Creates an empty folder. @returns the configuration of a location in it */
  newFolder(): Promise<SftpConfiguration>;
}

const sshd = '/usr/sbin/sshd';

/** Returns what is missing to start sshd, or an empty string. */
export function missingForSshd(): string {
  if (process.getuid?.() !== 0) return 'the user root';
  return existsSync(sshd) ? '' : 'openssh-server';
}

/** Returns what is missing to start rclone as an SFTP server, or an empty string. */
export const missingForRcloneSftp = (): string => ['rclone', 'ssh-keygen'].find((program) => !isInstalled(program)) ?? '';

/** Creates a key pair. @returns the public key */
async function createKey(file: string, options: readonly string[] = ['-t', 'ed25519', '-N', '']): Promise<string> {
  execFileSync('ssh-keygen', ['-q', ...options, '-f', file]);
  return (await readFile(`${file}.pub`, 'utf8')).trim();
}

/** Waits until a server accepts connections. @throws Error if its process ends */
async function untilListening(port: number, exit: Promise<never>): Promise<void> {
  exit.catch(() => {});
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = once(socket, 'connect').then(
      () => true,
      () => false,
    );
    try {
      if (await Promise.race([isOpen, exit])) return;
    } finally {
      socket.destroy();
    }
  }
}

async function createFolder(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  return mkdtemp(join(folder, 'location-'));
}

/**
 * Starts the server of OpenSSH (Debian's openssh-server).
 * @param keyOptions options of ssh-keygen for the key of the user
 * @param subsystem the command that serves SFTP
 */
export async function startSshd(keyOptions?: readonly string[], subsystem = 'internal-sftp'): Promise<SftpTestServer> {
  const [port, home] = [await freePort(), await mkdtemp(join(tmpdir(), 'sshd-'))];
  const folder = join(home, 'files');
  const hostKey = await createKey(join(home, 'host'));
  await createKey(join(home, 'client'), keyOptions);
  await copyFile(join(home, 'client.pub'), join(home, 'keys'));
  await chmod(join(home, 'keys'), 0o600);
  await mkdir('/run/sshd', { recursive: true, mode: 0o755 });
  const settings = [
    ...['ListenAddress 127.0.0.1', `Port ${port}`, `HostKey ${join(home, 'host')}`, 'PidFile none', 'StrictModes no', 'UsePAM no'],
    ...[`AuthorizedKeysFile ${join(home, 'keys')}`, 'PasswordAuthentication no', 'KbdInteractiveAuthentication no'],
    ...['PermitRootLogin prohibit-password', 'MaxSessions 50', 'MaxStartups 100', `Subsystem sftp ${subsystem}`],
  ];
  await writeFile(join(home, 'sshd_config'), `${settings.join('\n')}\n`);
  const server = spawn(sshd, ['-D', '-e', '-f', join(home, 'sshd_config')], { stdio: 'ignore' });
  await untilListening(
    port,
    once(server, 'exit').then(() => {
      throw new Error('sshd has ended');
    }),
  );
  const privateKey = await readFile(join(home, 'client'), 'utf8');
  return {
    folder,
    newFolder: async () => ({ host: '127.0.0.1', port, username: 'root', privateKey, hostKey, root: await createFolder(folder) }),
    [Symbol.asyncDispose]: () => endServer(server, home),
  };
}

/** Starts rclone as an SFTP server. A rename at this server replaces a file that already has the new name. */
export async function startRcloneSftp(): Promise<SftpTestServer> {
  const [port, home] = [await freePort(), await mkdtemp(join(tmpdir(), 'rclone-sftp-'))];
  const folder = join(home, 'files');
  await mkdir(folder);
  const hostKey = await createKey(join(home, 'host'));
  const server = spawn(
    'rclone',
    [
      ...['serve', 'sftp', folder, '--addr', `127.0.0.1:${port}`, '--key', join(home, 'host'), '--user', 'user', '--pass', 'secret'],
      ...['--vfs-cache-mode', 'writes', '--cache-dir', join(home, 'cache'), '--dir-cache-time', '0s', '--vfs-write-back', '0s'],
    ],
    { stdio: 'ignore', env: { ...process.env, RCLONE_CONFIG: join(home, 'none') } },
  );
  await untilListening(
    port,
    once(server, 'exit').then(() => {
      throw new Error('rclone has ended');
    }),
  );
  return {
    folder,
    async newFolder() {
      const root = (await createFolder(folder)).slice(folder.length);
      return { host: '127.0.0.1', port, username: 'user', password: 'secret', hostKey, root };
    },
    async [Symbol.asyncDispose]() {
      await endServer(server, home);
      await rm(home, { recursive: true, force: true });
    },
  };
}
