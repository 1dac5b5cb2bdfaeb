import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests in progress on one connection: Node.js starts as many as a client sends, whether or not it reads the answers. */
const mostInProgress = 16;

const inProgress = new WeakMap<Socket, number>();

/** Counts a request of a connection until its answer has ended. @returns whether there are too many */
export function isPipelinedTooDeep({ socket }: IncomingMessage, response: ServerResponse): boolean {
  const count = (inProgress.get(socket) ?? 0) + 1;
  inProgress.set(socket, count);
  response.once('close', () => inProgress.set(socket, (inProgress.get(socket) ?? 1) - 1));
  return count > mostInProgress;
}
