import { testContent } from '#adapters/storage/objects/connection-steps.ts';
import type { TestStep } from '#ports/storage.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import type { ChangeEvidence } from './change-evidence.ts';
import type { ItemMoves } from './item-moves.ts';
import type { MoveOutcome } from './item-server.ts';
import { writeTestFile } from './write-test-file.ts';

/** What a test of a location tries besides writing and reading. */
interface ConditionsTest {
  /** Returns whether the server ignores conditions on writing. @param movedPath of the test file */
  readonly ignoresConditions: (movedPath: readonly string[]) => Promise<boolean>;
  /** Shown to the operator if the server ignores conditions. */
  readonly warning: string;
}

/** Returns the steps that write a test file, read it, test conditions, and remove it. The staging area hides it from visitors. */
export function itemTestSteps(
  evidence: ChangeEvidence,
  moves: ItemMoves,
  token: string,
  { ignoresConditions, warning }: ConditionsTest,
): readonly TestStep[] {
  const movedPath = evidence.removedPath(token);
  return [
    { step: 'write', run: () => writeTestFile(evidence, moves, token) },
    {
      step: 'read',
      async run() {
        if ((await evidence.server.readText(movedPath)) !== testContent)
          throw new StorageUnavailable('the server returned other bytes than those written');
      },
    },
    {
      step: 'conditions',
      async run(note) {
        if (await ignoresConditions(movedPath)) note(warning);
      },
    },
    { step: 'remove', run: () => evidence.clear(token) },
  ];
}

/** Lists the root of a location. @throws StorageUnavailable */
export async function listRoot(evidence: ChangeEvidence): Promise<void> {
  if (!(await evidence.find([]))?.folder) throw new StorageUnavailable('there is no such folder');
  for await (const _ of evidence.list([])) break;
}

/**
 * Returns whether a server lets a rename replace a file.
 * @param rename asks the server to rename the staged file to the path of the test file without replacing that file
 */
export async function replacesOnRename(
  evidence: ChangeEvidence,
  token: string,
  rename: (stagedPath: readonly string[]) => Promise<MoveOutcome>,
): Promise<boolean> {
  const stagedPath = evidence.stagedPath(token);
  await evidence.write(() => evidence.server.writeText(stagedPath, testContent));
  return (await rename(stagedPath)) === 'moved';
}
