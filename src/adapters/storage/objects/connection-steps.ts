import type { TestStep } from '#ports/storage.ts';
import { ServiceError } from './service-errors.ts';

/** Classifies failures. */
interface FailureKinds {
  /** Whether the service has answered: the connection works. */
  isResponse(failure: unknown): boolean;
  /** Whether the service does not accept the credentials. */
  isSignInFailure(failure: unknown): boolean;
}

const kindsOfService: FailureKinds = {
  isResponse: (failure) => failure instanceof ServiceError,
  isSignInFailure: (failure) => failure instanceof ServiceError && failure.isSignInFailure,
};

/**
 * Returns the steps that test the connection, the credentials and the listing of a service.
 * @param tryList sends a request that lists something
 */
export function connectionSteps(tryList: () => Promise<unknown>, { isResponse, isSignInFailure } = kindsOfService): readonly TestStep[] {
  let failure: unknown = null;
  return [
    {
      step: 'connect',
      async run() {
        await tryList().catch((cause: unknown) => {
          failure = cause;
        });
        if (failure && !isResponse(failure)) throw failure;
      },
    },
    {
      step: 'signIn',
      async run() {
        if (isSignInFailure(failure)) throw failure;
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
/** A warning for operators about a service that ignores conditions. */
export const conditionsIgnoredWarning =
  'The service ignores conditions on writing. If two programs create or replace one file at the same moment, both may succeed, and the file that was written last stays.';
