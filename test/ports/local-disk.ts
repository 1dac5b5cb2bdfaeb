import { closeSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { openRoot } from '#adapters/storage/disk/beneath.ts';
import { diskStorage } from '#adapters/storage/disk/disk-storage.ts';
import { folderLister } from '#adapters/storage/disk/lister.ts';
import type { Storage } from '#ports/storage.ts';
import { inherited } from '../../src/adapters/storage/disk/ownership.ts';
import { fileReader } from '../../src/adapters/storage/disk/reader.ts';
import { atEnd } from '../parts/at-end.ts';

/** A folder of this machine as a storage, closed after the test. */
export function localDisk(t: TestContext, folder: string): Storage {
  const lister = folderLister();
  const root = openRoot(folder);
  const reader = fileReader(root);
  atEnd(t, async () => {
    await lister[Symbol.asyncDispose]();
    await reader[Symbol.asyncDispose]();
    closeSync(root.descriptor);
  });
  return diskStorage(root, lister, reader, { floor: { device: 0, bytes: 0 }, ownership: inherited });
}
