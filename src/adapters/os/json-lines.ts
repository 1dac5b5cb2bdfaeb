import { closeSync, openSync } from 'node:fs';
import sonicBoom from 'sonic-boom';

/** Writes objects as lines of JSON without waiting for the disk. Closing waits at most one second for unwritten lines. */
export interface JsonLines extends AsyncDisposable {
  write(entry: object): void;
  /** Opens the file by its path again. Call it after logrotate has renamed the file. */
  reopen(): void;
}

const standardOutput = 1;
const mode = 0o640;
const maxUnwritten = 4 << 20; // bytes: further lines are lost, for example on a full disk or if nobody reads standard output
const closeTimeout = 1000; // ms

/** @throws Error with a text for the operator if a file cannot be written */
function checkWritable(path: string): void {
  try {
    closeSync(openSync(path, 'a', mode));
  } catch (cause) {
    throw new Error(`${path} cannot be written (${cause instanceof Error && 'code' in cause ? cause.code : 'unknown error'})`);
  }
}

/**
 * Opens a file of JSON lines, or standard output. New lines are appended to an existing file.
 * @param target path of a file, or `stdout`
 * @throws Error if the file cannot be written
 */
export function openJsonLines(target: string): JsonLines {
  const isFile = target !== 'stdout';
  if (isFile) checkWritable(target);
  const destination = new sonicBoom.SonicBoom({
    dest: isFile ? target : standardOutput,
    append: true,
    mode,
    sync: false,
    maxLength: maxUnwritten,
    minLength: 1, // with the default 0, `flush` does not write
  });
  destination.on('error', () => {}); // on a full disk this log loses lines, and nothing else fails
  destination.on('drop', () => destination.flush()); // a full buffer is written only after `flush`, so it is called for each lost line
  let isClosed = false;
  return {
    write: (entry) => void (isClosed || destination.write(`${JSON.stringify(entry)}\n`)),
    reopen: () => isFile && !isClosed && destination.reopen(),
    async [Symbol.asyncDispose]() {
      isClosed = true;
      const writeEnd = Promise.withResolvers<void>();
      const timer = setTimeout(writeEnd.resolve, closeTimeout);
      destination.once('close', writeEnd.resolve).once('error', writeEnd.resolve);
      destination.end();
      await writeEnd.promise;
      clearTimeout(timer);
      destination.destroy();
    },
  };
}
