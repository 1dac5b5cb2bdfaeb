import type { ServerResponse } from 'node:http';

/**
 * Calls `work` when a response is closed: it was sent whole, or its client has left. That may have happened already, while
 * a hook waited before the handler.
 */
export function onceClosed(response: ServerResponse, work: () => void): void {
  if (response.closed) work();
  else response.once('close', work);
}

/** Returns a signal that is aborted when the client leaves before it has its answer. */
export function clientLeft(response: ServerResponse): AbortSignal {
  const left = new AbortController();
  onceClosed(response, () => {
    if (!response.writableFinished) left.abort();
  });
  return left.signal;
}
