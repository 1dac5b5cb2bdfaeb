import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, install, runtime } from './setup.mjs';

// A service manager sends SIGHUP at a reload: the server opens its access log anew. From a terminal it is the end.
if (process.env.POSTERN_ACCESS_LOG || !process.stdin.isTTY) process.on('SIGHUP', () => server?.kill('SIGHUP'));

let server;
install(false);
build();
const main = join(import.meta.dirname, '..', 'build', 'server', 'main.js');
const env = { UV_THREADPOOL_SIZE: '16', ...process.env };
// A small young generation: an idle Postern takes 115 MiB instead of 125.
const flags = ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=4'];
// By the channel the server notices when this process is gone, however it ended.
server = spawn(runtime(), [...flags, main], { stdio: ['inherit', 'inherit', 'inherit', 'ipc'], env });
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => server.kill(signal));
server.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));

/** The parent of a process, or 0 where that cannot be told. */
function parentOf(pid) {
  try {
    return Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

// npm and its shell may die without a word to us: Postern must not outlive them. Started otherwise, it may (nohup, setsid).
const ancestors = () => `${process.ppid} ${parentOf(process.ppid)}`;
const atStart = ancestors();
if (process.env.npm_lifecycle_event) setInterval(() => ancestors() !== atStart && server.kill('SIGTERM'), 500).unref();
