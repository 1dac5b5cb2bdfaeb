import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests that may wait behind the one in progress on their connection. */
const mostWaiting = 15;

/** Requests of one connection, each begun when the answer before it has ended. */
interface Line {
  busy: boolean;
  readonly waiting: (() => void)[];
}

const lines = new WeakMap<Socket, Line>();

/**
 * Begins the requests of a connection one after the other. Node.js starts as many as a client sends, whether or not it
 * reads the answers: each would hold its answer in memory.
 * @returns false where too many wait: the connection is to be cut
 */
export function beginInTurn({ socket }: IncomingMessage, response: ServerResponse, begin: () => void): boolean {
  const line = lines.get(socket) ?? { busy: false, waiting: [] };
  lines.set(socket, line);
  if (line.waiting.length >= mostWaiting) return false;
  response.once('close', () => {
    const next = line.waiting.shift();
    if (next && !socket.destroyed) next();
    else line.busy = false;
  });
  if (line.busy) line.waiting.push(begin);
  else {
    line.busy = true;
    begin();
  }
  return true;
}
