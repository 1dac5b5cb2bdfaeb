import { closeSync, openSync } from 'node:fs';
import { pino } from 'pino';

/** Writes objects as lines of JSON; nobody waits for the disk. */
export interface JsonLines extends Disposable {
  write(entry: object): void;
  /** Opens the file again by its path, after logrotate has renamed it. */
  reopen(): void;
}

const standardOutput = 1;
const mode = 0o640;

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
  const destination = pino.destination({ dest: isFile ? target : standardOutput, append: true, mode, sync: false });
  destination.on('error', () => {}); // a full disk loses lines of this log, and nothing else
  let ready = !isFile;
  destination.once('ready', () => {
    ready = true;
  });
  return {
    write: (entry) => void destination.write(`${JSON.stringify(entry)}\n`),
    reopen: () => isFile && destination.reopen(),
    [Symbol.dispose]: () => ready && destination.flushSync(),
  };
}
