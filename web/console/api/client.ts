import { QueryClient } from '@tanstack/react-query';
import { asProblem, onSessionEnd } from './call.ts';
import { callerQuery } from './session.ts';

const maxRetries = 2;

/** Returns the query client. It retries requests that got no readable response or status 503, and no others. */
export function consoleClient(): QueryClient {
  const client = new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5000,
        retry: (count, cause) => count < maxRetries && [0, 503].includes(asProblem(cause).status),
      },
    },
  });
  onSessionEnd(() => client.setQueryData(callerQuery.queryKey, (who) => (who ? null : who)));
  return client;
}
