import type { ChangeEvidence } from '#adapters/storage/moves/change-evidence.ts';
import type { ItemMoves } from '#adapters/storage/moves/item-moves.ts';
import { writeTestFile } from '#adapters/storage/moves/write-test-file.ts';
import { conditionsIgnoredWarning, connectionSteps, testContent } from '#adapters/storage/objects/connection-steps.ts';
import { readBody } from '#adapters/storage/objects/service-request.ts';
import type { TestStep } from '#ports/storage.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import type { WebdavServer } from './webdav-server.ts';

/** Returns the steps that test a folder at a WebDAV server. The test file is in the staging area, so no visitor sees it. */
export function webdavTestSteps(server: WebdavServer, evidence: ChangeEvidence, moves: ItemMoves, token: string): readonly TestStep[] {
  const path = evidence.removedPath(token);
  async function listRoot(): Promise<void> {
    if (!(await evidence.find([]))?.folder) throw new StorageUnavailable('there is no such folder');
    for await (const _ of evidence.list([])) break;
  }
  return [
    ...connectionSteps(listRoot),
    { step: 'write', run: () => writeTestFile(evidence, moves, token) },
    {
      step: 'read',
      async run() {
        const response = await server.send('GET', server.urlOf(path));
        const bytes = await readBody('GET', () => response.read(2 * testContent.length));
        if (Buffer.from(bytes).toString() !== testContent)
          throw new StorageUnavailable('the server returned other bytes than those written');
      },
    },
    {
      step: 'conditions',
      async run(note) {
        const { status } = await server.sendAndRead('PUT', server.urlOf(path), {
          headers: { 'if-match': '"another"' },
          body: testContent,
          expected: [409, 412, 501],
        });
        if (status < 300 || status === 501) note(conditionsIgnoredWarning);
      },
    },
    { step: 'remove', run: () => evidence.clear(token) },
  ];
}
