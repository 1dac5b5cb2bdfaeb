import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, copyFile, readFile, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Client } from 'ldapts';
import { temporaryFolder } from '../start.ts';
import { atEnd } from './at-end.ts';
import { createCertificate } from './certificate.ts';
import { freePort } from './free-port.ts';
import { isInstalled } from './is-installed.ts';

const relay = join(import.meta.dirname, 'unix-relay.mjs');
const administrator = 'CN=Administrator,CN=Users,DC=rig,DC=test';
const administratorPassword = 'Rig-Secret-1';

/**
 * Returns what is missing to start an Active Directory, or an empty string. Its ports cannot be chosen, so the server needs a
 * network namespace of its own.
 */
export function missingForActiveDirectory(): string {
  const missing = ['samba', 'samba-tool', 'unshare', 'ip', 'openssl'].filter((program) => !isInstalled(program));
  if (!existsSync('/usr/share/samba/setup')) missing.push('samba-ad-provision');
  if (process.getuid?.() !== 0) missing.push('root');
  return missing.join(', ');
}

/** An Active Directory (Debian's Samba). Users: `ann` in the group editors, which is in staff; `gone`, whose account is disabled. */
export interface ActiveDirectory {
  readonly configuration: Readonly<Record<string, unknown>>;
  /** Runs `samba-tool` on the directory. */
  manage(...parameters: string[]): void;
}

function run(program: string, parameters: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(program, parameters, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${parameters.slice(0, 3).join(' ')} failed: ${stdout}${stderr}`);
}

/** Returns the parameters of `unshare` that run a script in a network namespace of its own, which has only the loopback interface. */
const unshareParameters = (script: string, ...parameters: string[]) => [
  '-n',
  '--',
  'sh',
  '-c',
  `ip link set lo up; ${script}`,
  'sh',
  ...parameters,
];

async function provision(folder: string): Promise<string> {
  const options = [
    ...['--server-role=dc', '--domain=RIG', '--realm=RIG.TEST', `--adminpass=${administratorPassword}`, '--dns-backend=NONE'],
    ...['--host-ip=127.0.0.1', '--host-name=dc1', `--targetdir=${folder}`],
    ...['--option=interfaces=lo', '--option=bind interfaces only=yes'],
  ];
  run('unshare', unshareParameters('exec samba-tool domain provision "$@"', ...options));
  const { certFile, keyFile } = createCertificate(folder);
  await copyFile(keyFile, join(folder, 'private', 'server.key'));
  await chmod(join(folder, 'private', 'server.key'), 0o600);
  const file = join(folder, 'etc', 'smb.conf');
  const addedSettings = [
    'server services = ldap', // and no other services, which would need more ports
    `tls keyfile = ${folder}/private/server.key`,
    `tls certfile = ${certFile}`,
    `tls cafile = ${certFile}`,
    `pid directory = ${folder}`,
  ].join('\n\t');
  const settings = (await readFile(file, 'utf8')).replace(/^.*server services.*\n/m, '');
  await writeFile(file, settings.replace('[global]\n', `[global]\n\t${addedSettings}\n`));
  return file;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL'); // with its child processes
}

/** Starts a directory for one test. The start takes about a minute. */
export async function startActiveDirectory(t: TestContext): Promise<ActiveDirectory> {
  const folder = await temporaryFolder(t);
  const settings = await provision(folder);
  const manage = (...parameters: string[]) => run('samba-tool', [...parameters, '-s', settings]);
  manage('user', 'create', 'ann', 'Ann-Secret-1', '--given-name=Ann', '--surname=Archer', '--mail-address=ann@example.com');
  manage('user', 'create', 'gone', 'Gone-Secret-1');
  manage('user', 'disable', 'gone');
  for (const group of ['editors', 'staff']) manage('group', 'add', group);
  manage('group', 'addmembers', 'editors', 'ann');
  manage('group', 'addmembers', 'staff', 'editors');
  const socketFile = join(folder, 'ldap.sock');
  const script = '"$3" "$4" "$2" 389 & exec samba -i --no-process-group --debug-stdout -s "$1"';
  const child = spawn('unshare', unshareParameters(script, settings, socketFile, process.execPath, relay), {
    stdio: 'ignore',
    detached: true,
  });
  atEnd(t, () => stop(child));
  const port = await freePort();
  const server = createServer((outer) => {
    const inner = connect(socketFile);
    inner.on('error', () => outer.destroy()).on('close', () => outer.destroy());
    outer.on('error', () => inner.destroy()).on('close', () => inner.destroy());
    outer.pipe(inner).pipe(outer);
  }).listen(port, '127.0.0.1');
  atEnd(t, () => server.close());
  const url = `ldap://127.0.0.1:${port}`;
  const ca = await readFile(join(folder, 'cert.pem'), 'utf8');
  while (!(await isReady(url, ca))) await new Promise((resolve) => setTimeout(resolve, 200)); // Samba does not report that it is ready
  return {
    manage,
    configuration: {
      ...{ url, startTls: true, ca, baseDn: 'DC=rig,DC=test', bindDn: administrator, bindPassword: administratorPassword },
      userFilter: '(&(objectCategory=person)(|(sAMAccountName={username})(userPrincipalName={username})))',
      ...{ emailAttribute: 'mail', nestedGroups: true },
    },
  };
}

async function isReady(url: string, ca: string): Promise<boolean> {
  const client = new Client({ url, connectTimeout: 1000, timeout: 2000 });
  try {
    await client.startTLS({ ca, host: '127.0.0.1' });
    await client.bind(administrator, administratorPassword);
    return true;
  } catch {
    return false;
  } finally {
    await client.unbind().catch(() => {});
  }
}
