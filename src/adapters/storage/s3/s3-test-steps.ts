import { StorageUnavailable, type TestStep } from '#ports/storage.ts';
import { ServiceError } from './s3-errors.ts';
import type { S3Folders } from './s3-folders.ts';
import { hasKeys } from './s3-list.ts';
import { deleteObjects } from './s3-objects.ts';

const signInCodes = ['InvalidAccessKeyId', 'SignatureDoesNotMatch', 'InvalidToken', 'ExpiredToken', 'RequestTimeTooSkewed'];
const content = 'Postern tests this location.';
const ignoresConditions =
  'The service ignores conditions on writing. If two programs create or replace one file at the same moment, both may succeed, and the last one stays.';

/** Returns the steps that test a bucket. The test object is in the staging area, so no visitor sees it. */
export function s3TestSteps({ bucket, keys }: S3Folders, token: string): readonly TestStep[] {
  const key = keys.staging(`${token}.test`);
  let failure: unknown = null;
  return [
    {
      step: 'connect',
      async run() {
        await hasKeys(bucket, keys.folder([])).catch((cause: unknown) => {
          failure = cause;
        });
        if (failure && !(failure instanceof ServiceError)) throw failure;
      },
    },
    {
      step: 'signIn',
      async run() {
        if (failure instanceof ServiceError && signInCodes.includes(failure.code)) throw failure;
      },
    },
    {
      step: 'list',
      async run() {
        if (failure) throw failure;
      },
    },
    { step: 'write', run: async () => void (await bucket.sendAndRead('PUT', key, { body: content })) },
    {
      step: 'read',
      async run() {
        if ((await bucket.readObject(key, 2 * content.length)) !== content)
          throw new StorageUnavailable('the service returned other bytes than those written');
      },
    },
    {
      step: 'conditions',
      async run(note) {
        for (const headers of [{ 'if-none-match': '*' }, { 'if-match': '"another"' }]) {
          const { status } = await bucket.sendAndRead('PUT', key, { headers, body: content, expected: [409, 412, 501] });
          if (status < 300 || status === 501) return note(ignoresConditions);
        }
      },
    },
    { step: 'remove', run: () => deleteObjects(bucket, [key]) },
  ];
}
