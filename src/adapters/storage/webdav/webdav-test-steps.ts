import { ServiceError } from '#adapters/storage/objects/service-errors.ts';
import { readBody } from '#adapters/storage/objects/service-request.ts';
import { StorageUnavailable, type TestStep } from '#ports/storage.ts';
import type { WebdavStaging } from './webdav-staging.ts';

const content = 'Postern tests this location.';
const ignoresConditions =
  'The server ignores conditions on writing. If two programs create or replace one file at the same moment, both may succeed, and the last one stays.';

/** Returns the steps that test a folder at a WebDAV server. The test file is in the staging area, so no visitor sees it. */
export function webdavTestSteps(staging: WebdavStaging, token: string): readonly TestStep[] {
  const { server } = staging;
  const url = server.urlOf(staging.staged(token));
  let failure: unknown = null;
  return [
    {
      step: 'connect',
      async run() {
        const found = await staging.find([]).catch((cause: unknown) => {
          failure = cause;
        });
        if (found === null) failure = new StorageUnavailable('there is no such folder');
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
        for await (const _ of staging.list([])) break;
      },
    },
    {
      step: 'write',
      async run() {
        await staging.prepare();
        await server.sendAndRead('PUT', url, { body: content });
      },
    },
    {
      step: 'read',
      async run() {
        const response = await server.send('GET', url);
        const bytes = await readBody('GET', () => response.read(2 * content.length));
        if (Buffer.from(bytes).toString() !== content) throw new StorageUnavailable('the server returned other bytes than those written');
      },
    },
    {
      step: 'conditions',
      async run(note) {
        const { status } = await server.sendAndRead('PUT', url, {
          headers: { 'if-match': '"another"' },
          body: content,
          expected: [409, 412, 501],
        });
        if (status < 300 || status === 501) note(ignoresConditions);
      },
    },
    { step: 'remove', run: () => staging.clear(token) },
  ];
}
