import { queryOptions } from '@tanstack/react-query';
import type { FirstOperator, OperatorSignIn, WhoCalls } from '#core/records/operator.ts';
import { ask, asProblem, post } from './call.ts';

/** Who has signed in; null: nobody. */
export const whoQuery = queryOptions({
  queryKey: ['who'],
  queryFn: async ({ signal }): Promise<WhoCalls | null> => {
    try {
      return await ask<WhoCalls>('caller/get', {}, signal);
    } catch (cause) {
      if (asProblem(cause).status === 401) return null;
      throw cause;
    }
  },
  staleTime: Number.POSITIVE_INFINITY,
});

export const signIn = (body: OperatorSignIn) => post<WhoCalls>('operator/signIn', body);
export const signOut = () => post('operator/signOut', {});
export const makeFirst = (body: FirstOperator) => post<WhoCalls>('operator/first', body);
