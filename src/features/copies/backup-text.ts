/** A backup that cannot be read to its end. */
export class DamagedBackup extends Error {}

/** Splits a text that comes in pieces into its lines. @throws DamagedBackup where the pieces break off */
export async function* linesOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  try {
    for await (const piece of pieces) {
      const [first = '', ...more] = decoder.decode(piece, { stream: true }).split('\n');
      rest += first; // a line of megabytes comes in many pieces, and is read once
      for (const line of more) {
        yield rest;
        rest = line;
      }
    }
  } catch (cause) {
    throw new DamagedBackup('the backup is damaged or no backup: it cannot be read to its end', { cause });
  }
  if (rest !== '') yield rest;
}
