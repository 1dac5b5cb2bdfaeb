import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const spare = 16; // connections that Node.js still takes, so that there is time to close others

/** Sockets in the order in which they came. */
type Connections = Set<Socket>;

function largestOf(byAddress: ReadonlyMap<string, Connections>): Connections {
  let largest: Connections = new Set();
  for (const connections of byAddress.values()) if (connections.size > largest.size) largest = connections;
  return largest;
}

/**
 * Takes at most so many connections. Beyond, the oldest one of the address that has most is closed on which no request
 * is in progress, so that nobody is kept out by connections that another one only holds.
 */
export function boundConnections(server: Server, most: number): void {
  const byAddress = new Map<string, Connections>();
  const lastResponses = new WeakMap<Socket, ServerResponse>(); // they end in the order of their requests
  let count = 0;
  const isIdle = (socket: Socket) => lastResponses.get(socket)?.writableFinished ?? true;
  function closeOne(newcomer: Socket): void {
    const idle = largestOf(byAddress).values().find(isIdle);
    (idle ?? newcomer).destroy();
  }
  server.maxConnections = most + spare;
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const connections = byAddress.get(address) ?? new Set();
    byAddress.set(address, connections);
    connections.add(socket);
    count += 1;
    socket.once('close', () => {
      connections.delete(socket);
      count -= 1;
      if (connections.size === 0) byAddress.delete(address);
    });
    if (count > most) closeOne(socket);
  });
  server.on('request', ({ socket }, response) => lastResponses.set(socket, response));
}
