import type { TestStep } from '#ports/storage.ts';
import { ServiceError } from './service-errors.ts';

/** Returns the steps that test the connection, the credentials and the list of a service. @param look sends a request that lists something */
export function connectionSteps(look: () => Promise<unknown>): readonly TestStep[] {
  let failure: unknown = null;
  return [
    {
      step: 'connect',
      async run() {
        await look().catch((cause: unknown) => {
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
  ];
}

/** The text in a file that a test of a location writes. */
export const testContent = 'Postern tests this location.';
/** What an operator should know of a service without conditions. */
export const ignoresConditions =
  'The service ignores conditions on writing. If two programs create or replace one file at the same moment, both may succeed, and the last one stays.';
