import { QueryClient } from '@tanstack/react-query';
import { asProblem, onSessionEnd } from './call.ts';
import { callerQuery } from './session.ts';

const maxRetries = 2;

/** Returns the query client. It retries a query only after status 503, or after an error in the browser such as a lost connection. */
export function consoleClient(): QueryClient {
  const client = new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5000,
        retry: (count, cause) => count < maxRetries && [0, 503].includes(asProblem(cause).status),
      },
    },
  });
  onSessionEnd(() => client.setQueryData(callerQuery.queryKey, (caller) => (caller ? null : caller)));
  return client;
}
