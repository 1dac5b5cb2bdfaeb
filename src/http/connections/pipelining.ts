import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';

/** Maximum number of requests that wait behind the one in progress on their connection. */
const maxWaiting = 15;

/** The requests of one connection. Each starts when the response before it has closed. */
interface RequestQueue {
  isBusy: boolean;
  readonly waiting: (() => void)[];
}

/**
 * Handles the requests of a connection one after the other. Node.js starts as many as a client sends, even if it does
 * not read the responses, which would all stay in memory. A connection with too many waiting requests is closed, and
 * what it has sent already, up to 64 KiB of requests, is dropped.
 */
export function handleInSequence(handle: RequestListener): RequestListener {
  const queues = new WeakMap<Socket, RequestQueue>();
  return (request, response) => {
    const { socket } = request;
    if (socket.destroyed) return;
    const queue = queues.get(socket) ?? { isBusy: false, waiting: [] };
    queues.set(socket, queue);
    if (queue.waiting.length >= maxWaiting) return void socket.destroy();
    response.once('close', () => {
      const next = queue.waiting.shift();
      if (next && !socket.destroyed) next();
      else queue.isBusy = false;
    });
    const start = () => handle(request, response);
    if (queue.isBusy) return void queue.waiting.push(start);
    queue.isBusy = true;
    start();
  };
}
