import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { requestTurns } from './request-turns.ts';

/**
 * Begins to read new connections for a few milliseconds at a time; networks take turns. Otherwise, a client that opens hundreds of
 * connections a second would delay the connections of all other clients.
 * @param now returns a monotonic time in ms
 */
export function readInTurns(server: Server, now: () => number): void {
  const turns = requestTurns(now, () => 0); // time for parsing counts as work
  server.on('connection', (socket: Socket) => {
    if (turns.takeStart()) return;
    process.nextTick(() => socket.pause()); // Node.js itself resumes a new socket in the next tick
    turns.wait(socket.remoteAddress ?? '', {
      start: () => void socket.resume(),
      onLeave: (leave) => void socket.once('close', leave),
      drop() {},
    });
  });
}
