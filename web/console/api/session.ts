import { queryOptions } from '@tanstack/react-query';
import type { CallerRecord, FirstOperator, OperatorSignIn } from '#core/records/operator.ts';
import { asProblem, get, sendBody } from './call.ts';

/** The operator who has signed in, or null. */
export const callerQuery = queryOptions({
  queryKey: ['who'],
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

export const signIn = (body: OperatorSignIn) => sendBody<CallerRecord>('POST', 'operator/signIn', body);
export const signOut = () => sendBody<null>('POST', 'operator/signOut', {});
export const createFirstOperator = (body: FirstOperator) => sendBody<CallerRecord>('POST', 'operator/first', body);
