import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';

/** Requests that may wait behind the one in progress on their connection. */
const mostWaiting = 15;

/** Requests of one connection, each begun when the answer before it has ended. */
interface Line {
  busy: boolean;
  readonly waiting: (() => void)[];
}

/**
 * Begins the requests of a connection one after the other. Node.js starts as many as a client sends, whether or not it
 * reads the answers: each would hold its answer in memory. A connection on which more wait is cut, and what it has sent
 * already, up to 64 KiB of requests, is dropped.
 */
export function oneAfterAnother(handle: RequestListener): RequestListener {
  const lines = new WeakMap<Socket, Line>();
  return (request, response) => {
    const { socket } = request;
    if (socket.destroyed) return;
    const line = lines.get(socket) ?? { busy: false, waiting: [] };
    lines.set(socket, line);
    if (line.waiting.length >= mostWaiting) return void socket.destroy();
    response.once('close', () => {
      const next = line.waiting.shift();
      if (next && !socket.destroyed) next();
      else line.busy = false;
    });
    const begin = () => handle(request, response);
    if (line.busy) return void line.waiting.push(begin);
    line.busy = true;
    begin();
  };
}
