import { QueryClient } from '@tanstack/react-query';
import { asProblem, onSessionEnd } from './call.ts';
import { whoQuery } from './session.ts';

const mostRetries = 2;

/** What was asked is kept and asked anew when somebody comes back to the page; refusals are not asked again. */
export function consoleClient(): QueryClient {
  const client = new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5000,
        retry: (count, cause) => count < mostRetries && [0, 503].includes(asProblem(cause).status),
      },
    },
  });
  onSessionEnd(() => client.setQueryData(whoQuery.queryKey, (who) => (who ? null : who)));
  return client;
}
