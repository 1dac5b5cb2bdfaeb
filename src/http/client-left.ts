import type { ServerResponse } from 'node:http';

/** Returns a signal that is aborted when the client leaves before it has its answer. */
export function clientLeft(response: ServerResponse): AbortSignal {
  const left = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) left.abort();
  });
  return left.signal;
}
