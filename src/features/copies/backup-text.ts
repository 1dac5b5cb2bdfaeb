/** The error for a backup that cannot be read to its end or has a line that is not JSON. */
export class DamagedBackup extends Error {}

/** Yields the lines of a text that arrives in pieces. @throws DamagedBackup if they cannot be read to the end or are not UTF-8 */
export async function* splitLines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let partialLine = '';
  try {
    for await (const piece of pieces) {
      const [first = '', ...more] = decoder.decode(piece, { stream: true }).split('\n');
      partialLine += first; // appending keeps the cost linear for a line of megabytes, which arrives in many pieces
      for (const line of more) {
        yield partialLine;
        partialLine = line;
      }
    }
  } catch (cause) {
    throw new DamagedBackup('the file is damaged or not a backup: it cannot be read to the end', { cause });
  }
  if (partialLine !== '') yield partialLine;
}
