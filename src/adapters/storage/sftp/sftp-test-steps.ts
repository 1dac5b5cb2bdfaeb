import type { ChangeEvidence } from '#adapters/storage/moves/change-evidence.ts';
import type { ItemMoves } from '#adapters/storage/moves/item-moves.ts';
import { writeTestFile } from '#adapters/storage/moves/write-test-file.ts';
import { connectionSteps, testContent } from '#adapters/storage/objects/connection-steps.ts';
import type { TestStep } from '#ports/storage.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { SftpRefusal, SignInRefused, statusCodes } from './sftp-errors.ts';
import type { SftpItems } from './sftp-items.ts';

const overwriteNote =
  'The server lets a rename replace a file. If two programs create one file at the same moment, both may succeed, and the last one stays.';

const isSignInFailure = (failure: unknown) => failure instanceof SignInRefused;
const isResponse = (failure: unknown) => isSignInFailure(failure) || failure instanceof SftpRefusal;

/** Returns the steps that test a folder at an SFTP server. The test file is in the staging area, so no visitor sees it. */
export function sftpTestSteps(items: SftpItems, evidence: ChangeEvidence, moves: ItemMoves, token: string): readonly TestStep[] {
  const [stagedPath, movedPath] = [evidence.stagedPath(token), evidence.removedPath(token)];
  async function listRoot(): Promise<void> {
    if (!(await items.find([]))?.folder) throw new SftpRefusal(statusCodes.noSuchFile);
    for await (const _ of items.list([])) break;
  }
  return [
    ...connectionSteps(listRoot, { isResponse, isSignInFailure }),
    { step: 'write', run: () => writeTestFile(evidence, moves, token) },
    {
      step: 'read',
      async run() {
        if ((await items.readText(movedPath)) !== testContent)
          throw new StorageUnavailable('the server returned other bytes than those written');
      },
    },
    {
      step: 'conditions',
      async run(note) {
        await evidence.write(() => items.writeText(stagedPath, testContent));
        if ((await items.rename(stagedPath, movedPath, false)) === 'moved') note(overwriteNote);
      },
    },
    { step: 'remove', run: () => evidence.clear(token) },
  ];
}
