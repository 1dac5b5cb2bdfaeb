import { StorageUnavailable, type TestStep } from '#ports/storage.ts';
import type { ObjectFolders } from './object-folders.ts';
import { readText } from './read-text.ts';
import { ServiceError } from './service-errors.ts';

const content = 'Postern tests this location.';
const ignoresConditions =
  'The service ignores conditions on writing. If two programs create or replace one file at the same moment, both may succeed, and the last one stays.';

/** Returns the steps that test a place for objects. The test object is in the staging area, so no visitor sees it. */
export function objectTestSteps({ store, keys }: ObjectFolders, token: string): readonly TestStep[] {
  const key = keys.staging(`${token}.test`);
  let failure: unknown = null;
  return [
    {
      step: 'connect',
      async run() {
        await store.hasKeys(keys.folder([])).catch((cause: unknown) => {
          failure = cause;
        });
        if (failure && !(failure instanceof ServiceError)) throw failure;
      },
    },
    {
      step: 'signIn',
      async run() {
        if (failure instanceof ServiceError && failure.isSignIn) throw failure;
      },
    },
    {
      step: 'list',
      async run() {
        if (failure) throw failure;
      },
    },
    { step: 'write', run: async () => void (await store.put(key, content)) },
    {
      step: 'read',
      async run() {
        if ((await readText(store, key, 2 * content.length)) !== content)
          throw new StorageUnavailable('the service returned other bytes than those written');
      },
    },
    {
      step: 'conditions',
      async run(note) {
        for (const condition of ['absent', { etag: '"another"' }] as const)
          if (await store.put(key, content, { condition })) return note(ignoresConditions);
      },
    },
    { step: 'remove', run: () => store.delete([key]) },
  ];
}
