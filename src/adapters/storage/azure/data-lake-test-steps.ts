import type { ChangeEvidence } from '#adapters/storage/moves/change-evidence.ts';
import type { ItemMoves } from '#adapters/storage/moves/item-moves.ts';
import { itemTestSteps, listRoot, replacesOnRename } from '#adapters/storage/moves/item-test-steps.ts';
import { conditionsIgnoredWarning, connectionSteps } from '#adapters/storage/objects/connection-steps.ts';
import type { TestStep } from '#ports/storage.ts';
import type { DataLakeItems } from './data-lake-items.ts';

/** Returns the steps that test an account with a hierarchical namespace. */
export function dataLakeTestSteps(items: DataLakeItems, evidence: ChangeEvidence, moves: ItemMoves, token: string): readonly TestStep[] {
  const ignoresConditions = (movedPath: readonly string[]) =>
    replacesOnRename(evidence, token, (stagedPath) => items.move(stagedPath, movedPath, { overwrites: false }));
  return [
    ...connectionSteps(() => listRoot(evidence)),
    ...itemTestSteps(evidence, moves, token, { ignoresConditions, warning: conditionsIgnoredWarning }),
  ];
}
