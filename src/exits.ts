import { hasBlockedThread } from '#adapters/os/thread.ts';

/** Returns the code of an error. Its message is not printed, since it may contain a path of the machine. */
function codeOf(cause: unknown): string {
  if (cause instanceof Error && 'errcode' in cause) return `SQLite ${cause.errcode}`;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : 'a thread ended';
}

/** Ends the process when the database is no longer the one that it started with. */
export function exitOnReplacedDatabase(): never {
  process.stderr.write(
    'The database at POSTERN_DATABASE_URL is not the one that Postern started with: it is being restored or was replaced. Postern is stopping. Start it again when the database is complete.\n',
  );
  process.exit(70); // EX_SOFTWARE: a supervisor restarts the process, and the start checks the database
}

/** Ends the process when the disk has failed and no request can be answered any more. */
export function exitOnDiskFailure(cause: unknown): never {
  process.stderr.write(
    `The disk of POSTERN_DATA failed (${codeOf(cause)}). Postern exits without responding to open requests, because it cannot tell what was written.\n`,
  );
  process.exit(70); // EX_SOFTWARE: a supervisor restarts the process, and the start checks the disk
}

/** Ends the process after Postern has stopped. `process.exit` would wait for a thread that a hung disk blocks; a signal does not. */
export function exitAfterStop(): void {
  if (!hasBlockedThread()) process.exit(0);
  process.stderr.write('A location does not respond. Postern exits without waiting for it.\n');
  process.removeAllListeners('SIGTERM');
  process.kill(process.pid, 'SIGTERM'); // systemd counts this signal as a clean exit
}
