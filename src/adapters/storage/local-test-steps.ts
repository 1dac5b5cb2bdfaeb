import { rootPath } from '#core/item-path.ts';
import type { Storage, TestStep, Upload } from '#ports/storage.ts';

/** Returns the steps that test a folder. The test file is never put in place, so no visitor sees it. */
export function localTestSteps(storage: Pick<Storage, 'check' | 'list' | 'upload'>, token: string): readonly TestStep[] {
  let upload: Upload | null = null;
  return [
    { step: 'connect', run: () => storage.check() },
    {
      step: 'list',
      async run() {
        const batches = await storage.list(rootPath);
        if (!batches) throw new Error('there is no folder');
        for await (const _ of batches) break;
      },
    },
    {
      step: 'write',
      async run() {
        upload = await storage.upload({ parent: rootPath, name: `test-${token}`, size: null, ifTaken: 'refuse' }, token);
        await upload.write(new TextEncoder().encode('Postern tests this location.'));
        await upload.sync();
      },
    },
    { step: 'remove', run: async () => upload?.discard() },
  ];
}
