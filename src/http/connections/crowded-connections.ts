import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { siteOf } from '#core/client-networks.ts';

const extraConnections = 64; // beyond the limit, so that there is time to close others

/** Sockets in the order in which they connected. */
type Connections = Set<Socket>;

function findLargest(bySite: ReadonlyMap<string, Connections>): Connections {
  let largest: Connections = new Set();
  for (const connections of bySite.values()) if (connections.size > largest.size) largest = connections;
  return largest;
}

/**
 * Limits the number of connections. Beyond the limit, it closes one of the site with the most connections, so that
 * idle connections of one site do not keep others out: the oldest without a request in progress, else the oldest
 * that still sends a body, else the newest. A new connection of the largest site is refused if none there is idle.
 */
export function limitConnections(server: Server, max: number): void {
  const bySite = new Map<string, Connections>();
  const lastResponses = new WeakMap<Socket, ServerResponse>(); // responses end in the order of their requests
  let count = 0;
  const isIdle = (socket: Socket) => lastResponses.get(socket)?.writableFinished ?? true;
  function awaitsBody(socket: Socket): boolean {
    const request = lastResponses.get(socket)?.req;
    return request !== undefined && !request.complete && request.method !== 'PUT';
  }
  function closeOne(newcomer: Socket, own: Connections): void {
    const largest = findLargest(bySite);
    const idle = largest.values().find(isIdle);
    if (idle) return void idle.destroy();
    if (largest.size <= own.size + 1) return void newcomer.destroy();
    (largest.values().find(awaitsBody) ?? [...largest].at(-1))?.destroy();
  }
  server.on('connection', (socket: Socket) => {
    const site = siteOf(socket.remoteAddress ?? '');
    const connections: Connections = bySite.get(site) ?? new Set();
    bySite.set(site, connections);
    connections.add(socket);
    count += 1;
    socket.once('close', () => {
      connections.delete(socket);
      count -= 1;
      if (connections.size === 0 && bySite.get(site) === connections) bySite.delete(site);
    });
    if (count > max + extraConnections) socket.destroy();
    else if (count > max) closeOne(socket, connections);
  });
  server.on('request', ({ socket }, response) => lastResponses.set(socket, response));
}
