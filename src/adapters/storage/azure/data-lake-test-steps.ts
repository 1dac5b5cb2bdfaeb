import type { ChangeEvidence } from '#adapters/storage/moves/change-evidence.ts';
import type { ItemMoves } from '#adapters/storage/moves/item-moves.ts';
import { writeTestFile } from '#adapters/storage/moves/write-test-file.ts';
import { conditionsIgnoredWarning, connectionSteps, testContent } from '#adapters/storage/objects/connection-steps.ts';
import type { TestStep } from '#ports/storage.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import type { DataLakeItems } from './data-lake-items.ts';

/** Returns the steps that test an account with a hierarchical namespace. The test file is in the staging area, so no visitor sees it. */
export function dataLakeTestSteps(items: DataLakeItems, evidence: ChangeEvidence, moves: ItemMoves, token: string): readonly TestStep[] {
  const [stagedPath, movedPath] = [evidence.stagedPath(token), evidence.removedPath(token)];
  async function listRoot(): Promise<void> {
    if (!(await items.find([]))?.folder) throw new StorageUnavailable('there is no such folder');
    for await (const _ of items.list([])) break;
  }
  return [
    ...connectionSteps(listRoot),
    { step: 'write', run: () => writeTestFile(evidence, moves, token) },
    {
      step: 'read',
      async run() {
        if ((await items.readText(movedPath)) !== testContent)
          throw new StorageUnavailable('the service returned other bytes than those written');
      },
    },
    {
      step: 'conditions',
      async run(note) {
        await evidence.write(() => items.writeText(stagedPath, testContent));
        if ((await items.move(stagedPath, movedPath, { overwrites: false })) === 'moved') note(conditionsIgnoredWarning);
      },
    },
    { step: 'remove', run: () => evidence.clear(token) },
  ];
}
