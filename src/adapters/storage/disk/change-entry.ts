import fs from 'node:fs';
import type { ItemPath } from '#core/item-path.ts';
import type { ChangeContext } from '#ports/storage.ts';
import { ConfirmationExpired, runDiskChange } from './disk-errors.ts';
import { withEvidence } from './evidence.ts';
import type { EvidenceOfName } from './marks.ts';
import { monotonicTime } from './monotonic-time.ts';
import { openFolder, type StorageRoot } from './open-within-root.ts';
import type { DirectoryEntry } from './staging-area.ts';

/** Time within which a confirmed change must be made, in ms: after a longer wait, another process may have recovered it. */
const maxConfirmationAge = 10_000;

/** A change of one name in a folder. */
export interface EntryChange extends Omit<ChangeContext, 'confirm'> {
  readonly parent: ItemPath;
  readonly name: string;
  /** When the change was confirmed, by `monotonicTime`; null: it needs no confirmation. */
  readonly confirmedAt: number | null;
}

/**
 * Changes an entry of a folder.
 * @param change receives the entry, and the evidence for recovery
 * @returns the descriptor of the folder: the caller must sync and close it
 */
export function changeEntry(
  root: StorageRoot,
  { parent, name, token, pendingTokens, confirmedAt }: EntryChange,
  change: (entry: DirectoryEntry, evidence: EvidenceOfName) => void,
): number {
  return withEvidence(root, parent, token, (own) => {
    const evidenceOf = (otherToken: string): DirectoryEntry => ({ folder: own.folder, name: own.name.replace(token, otherToken) });
    const folder = openFolder(root, parent);
    try {
      if (confirmedAt !== null && monotonicTime() - confirmedAt > maxConfirmationAge)
        throw new ConfirmationExpired('the disk did not respond in time');
      runDiskChange(() => change({ folder, name }, { own, pending: pendingTokens.map(evidenceOf) }));
      return folder;
    } catch (cause) {
      fs.closeSync(folder);
      throw cause;
    }
  });
}
