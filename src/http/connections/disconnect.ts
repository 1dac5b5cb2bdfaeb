import type { ServerResponse } from 'node:http';

/**
 * Calls `work` when a response is closed: it was sent completely, or its connection was closed before. Calls it at once if the
 * response is closed already, which can happen while a hook waits before the handler.
 */
export function onceClosed(response: ServerResponse, work: () => void): void {
  if (response.closed) work();
  else response.once('close', work);
}

/** Returns a signal that is aborted when the connection closes before the response has been sent. */
export function disconnectSignal(response: ServerResponse): AbortSignal {
  const clientGone = new AbortController();
  onceClosed(response, () => {
    if (!response.writableFinished) clientGone.abort();
  });
  return clientGone.signal;
}
