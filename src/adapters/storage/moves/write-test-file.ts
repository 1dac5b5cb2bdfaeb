import { testContent } from '#adapters/storage/objects/connection-steps.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import type { ChangeEvidence } from './change-evidence.ts';
import type { ItemMoves } from './item-moves.ts';

/**
 * Writes the file of a location test into the staging area, and moves it within that area, to the path that a removed item gets.
 * @throws StorageUnavailable, StorageUnusable, or as `ItemMoves.run`
 */
export async function writeTestFile(evidence: ChangeEvidence, moves: ItemMoves, token: string): Promise<void> {
  const [from, to] = [evidence.stagedPath(token), evidence.removedPath(token)];
  await evidence.write(() => evidence.server.writeText(from, testContent));
  const entry = await evidence.find(from);
  if (!entry) throw new StorageUnavailable('the server does not find a file that it has stored');
  await moves.run({ token, from, to, entry });
}
