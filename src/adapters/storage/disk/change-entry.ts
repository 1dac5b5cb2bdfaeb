import fs from 'node:fs';
import type { ItemPath } from '#core/item-path.ts';
import type { ChangeContext } from '#ports/storage.ts';
import { type ConfirmedAt, hasExpired } from './confirmation.ts';
import { ConfirmationExpired, runDiskChange } from './disk-errors.ts';
import { withEvidence } from './evidence.ts';
import type { EvidenceOfName } from './marks.ts';
import { openFolder, type StorageRoot } from './open-within-root.ts';
import type { DirectoryEntry } from './staging-area.ts';

/** A change of one name in a folder. */
export interface EntryChange extends Omit<ChangeContext, 'confirm'> {
  readonly parent: ItemPath;
  readonly name: string;
  readonly confirmedAt: ConfirmedAt;
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
      if (hasExpired(confirmedAt)) throw new ConfirmationExpired('the disk did not respond in time');
      runDiskChange(() => change({ folder, name }, { own, pending: pendingTokens.map(evidenceOf) }));
      return folder;
    } catch (cause) {
      fs.closeSync(folder);
      throw cause;
    }
  });
}
