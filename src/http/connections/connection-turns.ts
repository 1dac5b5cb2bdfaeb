import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { requestTurns } from './request-turns.ts';

/**
 * Begins to read new connections a few milliseconds at a time, so that networks take turns. Otherwise, all work that a new connection
 * causes would be done at once, and the next ones would wait in the queue of the operating system, which knows no networks: a client that
 * opens hundreds of connections a second would delay those of all others.
 * @param now returns a monotonic time in ms
 */
export function readInTurns(server: Server, now: () => number): void {
  const turns = requestTurns(now, () => 0); // what parsing costs is a part of the work
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
