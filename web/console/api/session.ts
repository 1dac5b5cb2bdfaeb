import { queryOptions } from '@tanstack/react-query';
import type { CallerRecord, FirstOperator, OperatorSignIn, ProviderAddress, SignInMethods } from '#core/records/operator.ts';
import type { CurrentPassword } from '#core/records/second-factor.ts';
import { asProblem, get, getWithoutSession, sendBody } from './call.ts';

/** The operator who has signed in, or null. */
export const callerQuery = queryOptions({
  queryKey: ['caller'],
  queryFn: async ({ signal }): Promise<CallerRecord | null> => {
    try {
      return await get('caller/get', {}, signal);
    } catch (cause) {
      if (asProblem(cause).status === 401) return null;
      throw cause;
    }
  },
  staleTime: Number.POSITIVE_INFINITY,
});

/** The ways to sign in other than with a password. */
export const signInMethodsQuery = queryOptions({
  queryKey: ['sign-in-methods'],
  queryFn: ({ signal }): Promise<SignInMethods> => getWithoutSession('operator/signInMethods', signal),
  staleTime: Number.POSITIVE_INFINITY,
});

export const signIn = (body: OperatorSignIn) => sendBody<CallerRecord>('POST', 'operator/signIn', body);
export const signOut = () => sendBody<null>('POST', 'operator/signOut', {});
export const linkProvider = (body: CurrentPassword) => sendBody<ProviderAddress>('POST', 'operator/linkProvider', body);
export const createFirstOperator = (body: FirstOperator) => sendBody<CallerRecord>('POST', 'operator/first', body);
