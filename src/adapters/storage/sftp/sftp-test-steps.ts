import type { ChangeEvidence } from '#adapters/storage/moves/change-evidence.ts';
import type { ItemMoves } from '#adapters/storage/moves/item-moves.ts';
import { itemTestSteps, replacesOnRename } from '#adapters/storage/moves/item-test-steps.ts';
import { connectionSteps } from '#adapters/storage/objects/connection-steps.ts';
import type { TestStep } from '#ports/storage.ts';
import { SftpRefusal, SignInRefused, statusCodes } from './sftp-errors.ts';
import type { SftpItems } from './sftp-items.ts';

const overwriteWarning =
  'The server lets a rename replace a file. If two programs create one file at the same moment, both may succeed, and the last one stays.';

const isSignInFailure = (failure: unknown) => failure instanceof SignInRefused;
const isResponse = (failure: unknown) => isSignInFailure(failure) || failure instanceof SftpRefusal;

/** Returns the steps that test a folder at an SFTP server. */
export function sftpTestSteps(items: SftpItems, evidence: ChangeEvidence, moves: ItemMoves, token: string): readonly TestStep[] {
  async function listRoot(): Promise<void> {
    if (!(await items.find([]))?.folder) throw new SftpRefusal(statusCodes.noSuchFile);
    for await (const _ of items.list([])) break;
  }
  const ignoresConditions = (movedPath: readonly string[]) =>
    replacesOnRename(evidence, token, (stagedPath) => items.rename(stagedPath, movedPath, { overwrites: false }));
  return [
    ...connectionSteps(listRoot, { isResponse, isSignInFailure }),
    ...itemTestSteps(evidence, moves, token, { ignoresConditions, warning: overwriteWarning }),
  ];
}
