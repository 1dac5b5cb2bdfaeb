import fs from 'node:fs';
import { descriptorPath, type StorageRoot } from './open-within-root.ts';
import { randomNames } from './remove-entry.ts';
import { deleteTree } from './remove-tree.ts';
import { openStagingArea, stagingFolder } from './staging-area.ts';

const maxNames = 1000; // of one sweep: a tenant that has access to the disk can create millions of names
const readAtOnce = 1000; // names

/** Returns names of a folder: all if they are few, or else some at random, so that names that cannot be deleted do not hide the others. */
function someNames(folder: fs.Dir): readonly string[] {
  const names: string[] = [];
  let count = 0;
  for (let entry = folder.readSync(); entry; entry = folder.readSync()) {
    count += 1;
    const index = names.length < maxNames ? names.length : Math.floor(Math.random() * count);
    if (index < maxNames) names[index] = entry.name;
  }
  return names;
}

/** Returns names in the staging area, at most a thousand, or null if there is no staging area. */
export function stagedNames(root: StorageRoot): readonly string[] | null {
  if (!fs.lstatSync(descriptorPath(root.descriptor, stagingFolder), { throwIfNoEntry: false })) return null;
  const area = openStagingArea(root);
  try {
    using folder = fs.opendirSync(descriptorPath(area), { bufferSize: readAtOnce });
    return someNames(folder);
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
