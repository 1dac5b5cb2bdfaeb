/** A backup that cannot be read to its end. */
export class DamagedBackup extends Error {}

/** Splits a text that comes in pieces into its lines. @throws DamagedBackup where the pieces break off */
export async function* linesOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  try {
    for await (const piece of pieces) {
      const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } catch (cause) {
    throw new DamagedBackup('the backup is damaged or no backup: it cannot be read to its end', { cause });
  }
  if (rest !== '') yield rest;
}
