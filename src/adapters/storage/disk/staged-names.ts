import fs from 'node:fs';
import { descriptorPath, type StorageRoot } from './open-within-root.ts';
import { randomNames } from './remove-entry.ts';
import { deleteTree } from './remove-tree.ts';
import { openStagingArea, stagingFolder } from './staging-area.ts';

/** Returns the names in the staging area, or null if there is none. */
export function stagedNames(root: StorageRoot): readonly string[] | null {
  if (!fs.lstatSync(descriptorPath(root.descriptor, stagingFolder), { throwIfNoEntry: false })) return null;
  const area = openStagingArea(root);
  try {
    return fs.readdirSync(descriptorPath(area));
  } finally {
    fs.closeSync(area);
  }
}

/** Deletes an entry of the staging area with everything in it. */
export function deleteStagedName(root: StorageRoot, name: string): void {
  const area = openStagingArea(root);
  try {
    deleteTree(area, name, randomNames('rm'));
  } finally {
    fs.closeSync(area);
  }
}
