import { Writable } from 'node:stream';

/** Returns a log that stores its lines in memory, and a function that returns the lines of level error. */
export function logLines(): { readonly log: Writable; readonly errors: () => string[] } {
  const lines: string[] = [];
  const log = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  return { log, errors: () => lines.filter((line) => line.includes('"level":50')) };
}
