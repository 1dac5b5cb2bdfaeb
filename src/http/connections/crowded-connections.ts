import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from '#core/policy/address-range.ts';

const spare = 16; // connections that Node.js still takes, so that there is time to close others

/** Sockets in the order in which they came. */
type Connections = Set<Socket>;

function largestOf(byNetwork: ReadonlyMap<string, Connections>): Connections {
  let largest: Connections = new Set();
  for (const connections of byNetwork.values()) if (connections.size > largest.size) largest = connections;
  return largest;
}

/**
 * Takes at most so many connections. Beyond, one of the network that has most is closed, so that nobody is kept out by
 * connections that another one only holds: the oldest without a request in progress, else the oldest whose body does
 * not come, else the newest. A network that has most itself is refused where it has none without a request.
 */
export function boundConnections(server: Server, most: number): void {
  const byNetwork = new Map<string, Connections>();
  const lastResponses = new WeakMap<Socket, ServerResponse>(); // they end in the order of their requests
  let count = 0;
  const isIdle = (socket: Socket) => lastResponses.get(socket)?.writableFinished ?? true;
  function awaitsBody(socket: Socket): boolean {
    const request = lastResponses.get(socket)?.req;
    return request !== undefined && !request.complete && request.method !== 'PUT';
  }
  function closeOne(newcomer: Socket, own: Connections): void {
    const largest = largestOf(byNetwork);
    const idle = largest.values().find(isIdle);
    if (idle) return void idle.destroy();
    if (largest.size <= own.size + 1) return void newcomer.destroy();
    (largest.values().find(awaitsBody) ?? [...largest].at(-1))?.destroy();
  }
  server.maxConnections = most + spare;
  server.on('connection', (socket: Socket) => {
    const network = networkOf(socket.remoteAddress ?? '', 32, 48);
    const connections: Connections = byNetwork.get(network) ?? new Set();
    byNetwork.set(network, connections);
    connections.add(socket);
    count += 1;
    socket.once('close', () => {
      connections.delete(socket);
      count -= 1;
      if (connections.size === 0 && byNetwork.get(network) === connections) byNetwork.delete(network);
    });
    if (count > most) closeOne(socket, connections);
  });
  server.on('request', ({ socket }, response) => lastResponses.set(socket, response));
}
