import { connectionSteps, ignoresConditions, testContent } from '#adapters/storage/objects/connection-steps.ts';
import { readBody } from '#adapters/storage/objects/service-request.ts';
import { StorageUnavailable, type TestStep } from '#ports/storage.ts';
import type { WebdavStaging } from './webdav-staging.ts';

/** Returns the steps that test a folder at a WebDAV server. The test file is in the staging area, so no visitor sees it. */
export function webdavTestSteps(staging: WebdavStaging, token: string): readonly TestStep[] {
  const { server } = staging;
  const url = server.urlOf(staging.staged(token));
  async function look(): Promise<void> {
    if (!(await staging.find([]))?.folder) throw new StorageUnavailable('there is no such folder');
    for await (const _ of staging.list([])) break;
  }
  return [
    ...connectionSteps(look),
    {
      step: 'write',
      async run() {
        await staging.prepare();
        await server.sendAndRead('PUT', url, { body: testContent });
      },
    },
    {
      step: 'read',
      async run() {
        const response = await server.send('GET', url);
        const bytes = await readBody('GET', () => response.read(2 * testContent.length));
        if (Buffer.from(bytes).toString() !== testContent)
          throw new StorageUnavailable('the server returned other bytes than those written');
      },
    },
    {
      step: 'conditions',
      async run(note) {
        const { status } = await server.sendAndRead('PUT', url, {
          headers: { 'if-match': '"another"' },
          body: testContent,
          expected: [409, 412, 501],
        });
        if (status < 300 || status === 501) note(ignoresConditions);
      },
    },
    { step: 'remove', run: () => staging.clear(token) },
  ];
}
