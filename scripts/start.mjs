import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { memoryFlags } from './memory-flags.mjs';
import { build, install, runtime } from './setup.mjs';

// SIGHUP reloads: the server opens its access log again. In a terminal and without an access log, SIGHUP ends the process as usual.
if (process.env.POSTERN_ACCESS_LOG || !process.stdin.isTTY) process.on('SIGHUP', () => server?.kill('SIGHUP'));

let server;
install(false);
build();
const main = join(import.meta.dirname, '..', 'build', 'server', 'main.js');
// Two memory arenas for all threads: with one for each thread, an idle Postern takes 4 MiB more.
const env = { UV_THREADPOOL_SIZE: '16', MALLOC_ARENA_MAX: '2', ...process.env };
const flags = ['--disable-warning=ExperimentalWarning', ...memoryFlags];
// The IPC channel tells the server when this process has ended, for any reason.
server = spawn(runtime(), [...flags, main], { stdio: ['inherit', 'inherit', 'inherit', 'ipc'], env });
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => server.kill(signal));
// The server ends itself with SIGTERM if a location hangs while the server stops.
server.on('exit', (code, signal) => process.exit(signal === 'SIGTERM' ? 0 : (code ?? 1)));

/** Returns the id of the parent of a process, or 0 if it is not known. */
function parentOf(pid) {
  try {
    return Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

// Stops Postern when npm or its shell has ended, because they can end without a signal to this process.
// Without npm, Postern continues after its parent has ended (nohup).
const ancestorIds = () => `${process.ppid} ${parentOf(process.ppid)}`;
const idsAtStart = ancestorIds();
if (process.env.npm_lifecycle_event) setInterval(() => ancestorIds() !== idsAtStart && server.kill('SIGTERM'), 500).unref();
