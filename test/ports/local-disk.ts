import type { TestContext } from 'node:test';
import type { Storage } from '#ports/storage.ts';
import { defaultThreads, type ThreadSettings } from '../../src/adapters/storage/disk/folder-threads.ts';
import { inheritedModeAndGroup } from '../../src/adapters/storage/disk/mode-and-group.ts';
import { OpenFolders } from '../../src/adapters/storage/disk/open-folders.ts';
import { localStorage } from '../../src/adapters/storage/local-storage.ts';
import { atEnd } from '../parts/at-end.ts';

/**
 * Opens a local folder as a storage, and closes the storage after the test.
 * @param threads settings of the threads that run the disk commands of the storage
 */
export function localDisk(t: TestContext, folder: string, threads: ThreadSettings = defaultThreads): Storage {
  const folders = new OpenFolders(100, threads);
  atEnd(t, () => folders[Symbol.asyncDispose]());
  return localStorage(folders, {
    folder: { tid: 1, path: folder, mountPoint: false },
    writingRules: { floor: { device: 0, bytes: 0 }, modeAndGroup: inheritedModeAndGroup },
  });
}
