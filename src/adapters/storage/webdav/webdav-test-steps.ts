import type { ChangeEvidence } from '#adapters/storage/moves/change-evidence.ts';
import type { ItemMoves } from '#adapters/storage/moves/item-moves.ts';
import { itemTestSteps, listRoot } from '#adapters/storage/moves/item-test-steps.ts';
import { conditionsIgnoredWarning, connectionSteps, testContent } from '#adapters/storage/objects/connection-steps.ts';
import type { TestStep } from '#ports/storage.ts';
import type { WebdavServer } from './webdav-server.ts';

/** Returns the steps that test a folder at a WebDAV server. */
export function webdavTestSteps(server: WebdavServer, evidence: ChangeEvidence, moves: ItemMoves, token: string): readonly TestStep[] {
  async function ignoresConditions(movedPath: readonly string[]): Promise<boolean> {
    const request = { headers: { 'if-match': '"another"' }, body: testContent, expected: [409, 412, 501] };
    const { status } = await server.sendAndRead('PUT', server.urlOf(movedPath), request);
    return status < 300 || status === 501;
  }
  return [
    ...connectionSteps(() => listRoot(evidence)),
    ...itemTestSteps(evidence, moves, token, { ignoresConditions, warning: conditionsIgnoredWarning }),
  ];
}
