import { closeSync, openSync } from 'node:fs';
import sonicBoom from 'sonic-boom';

/** Writes objects as lines of JSON; nobody waits for the disk. Its end waits a second at most. */
export interface JsonLines extends AsyncDisposable {
  write(entry: object): void;
  /** Opens the file again by its path, after logrotate has renamed it. */
  reopen(): void;
}

const standardOutput = 1;
const mode = 0o640;
const mostUnwritten = 4 << 20; // bytes: on a full disk, and where nobody reads standard output, further lines are lost
const longestEnd = 1000; // ms

/** @throws where the file cannot be written, in words for the operator */
function checkWritable(path: string): void {
  try {
    closeSync(openSync(path, 'a', mode));
  } catch (cause) {
    throw new Error(`${path} cannot be written (${cause instanceof Error && 'code' in cause ? cause.code : 'unknown error'})`);
  }
}

/**
 * Opens a file of lines, or standard output. What was there before stays.
 * @param target path of a file, or `stdout`
 * @throws where the file cannot be written
 */
export function openJsonLines(target: string): JsonLines {
  const isFile = target !== 'stdout';
  if (isFile) checkWritable(target);
  const destination = new sonicBoom.SonicBoom({
    dest: isFile ? target : standardOutput,
    append: true,
    mode,
    sync: false,
    maxLength: mostUnwritten,
    minLength: 1, // without it, `flush` would not write
  });
  destination.on('error', () => {}); // a full disk loses lines of this log, and nothing else
  destination.on('drop', () => destination.flush()); // where the disk has room again, what waits is written
  let ended = false;
  return {
    write: (entry) => void (ended || destination.write(`${JSON.stringify(entry)}\n`)),
    reopen: () => isFile && !ended && destination.reopen(),
    async [Symbol.asyncDispose]() {
      ended = true;
      const written = Promise.withResolvers<void>();
      const late = setTimeout(written.resolve, longestEnd);
      destination.once('close', written.resolve).once('error', written.resolve);
      destination.end();
      await written.promise;
      clearTimeout(late);
      destination.destroy();
    },
  };
}
