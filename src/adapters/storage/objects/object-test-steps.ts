import type { TestStep } from '#ports/storage.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { conditionsIgnoredWarning, connectionSteps, testContent } from './connection-steps.ts';
import type { ObjectFolders } from './object-folders.ts';
import { readText } from './read-text.ts';

/** Returns the steps that test a location in an object store. The test object is in the staging area, so no visitor sees it. */
export function objectTestSteps({ store, keys }: ObjectFolders, token: string): readonly TestStep[] {
  const key = keys.staging(`${token}.test`);
  return [
    ...connectionSteps(() => store.hasKeys(keys.folder([]))),
    { step: 'write', run: async () => void (await store.put(key, testContent)) },
    {
      step: 'read',
      async run() {
        if ((await readText(store, key, 2 * testContent.length)) !== testContent)
          throw new StorageUnavailable('the service returned other bytes than those written');
      },
    },
    {
      step: 'conditions',
      async run(note) {
        for (const condition of ['absent', { etag: '"another"' }] as const)
          if (await store.put(key, testContent, { condition })) return note(conditionsIgnoredWarning);
      },
    },
    { step: 'remove', run: () => store.delete([key]) },
  ];
}
