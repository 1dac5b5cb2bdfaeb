import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { siteOf } from '#core/client-networks.ts';

const extraConnections = 64; // beyond the limit, so that there is time to close others
const maxExamined = 256; // oldest connections of a site: a client can open thousands, and new ones all the time

/** Sockets in the order in which they connected. */
type Connections = Set<Socket>;

function findLargest(bySite: ReadonlyMap<string, Connections>): Connections {
  let largest: Connections = new Set();
  for (const connections of bySite.values()) if (connections.size > largest.size) largest = connections;
  return largest;
}

/**
 * Limits the number of connections. Beyond the limit, it closes one of the site with the most connections, so that
 * idle connections of one site do not keep others out. Of the oldest there, it closes the first without a request in
 * progress, or else the first that still sends a body; if there is none, it closes the newest connection. A new
 * connection of the largest site is refused if none of the oldest there is idle.
 */
export function limitConnections(server: Server, max: number): void {
  const bySite = new Map<string, Connections>();
  const sites = new Map<Socket, string>();
  const lastResponses = new WeakMap<Socket, ServerResponse>(); // responses end in the order of their requests
  const isIdle = (socket: Socket) => lastResponses.get(socket)?.writableFinished ?? true;
  function awaitsBody(socket: Socket): boolean {
    const request = lastResponses.get(socket)?.req;
    return request !== undefined && !request.complete && request.method !== 'PUT';
  }
  function add(socket: Socket): Connections {
    const site = siteOf(socket.remoteAddress ?? '');
    const connections: Connections = bySite.get(site) ?? new Set();
    bySite.set(site, connections.add(socket));
    sites.set(socket, site);
    return connections;
  }
  function remove(socket: Socket): void {
    const site = sites.get(socket);
    if (site === undefined) return;
    sites.delete(socket);
    const connections = bySite.get(site);
    connections?.delete(socket);
    if (connections?.size === 0) bySite.delete(site);
  }
  /** Closes a connection. It counts no longer, because its event `close` comes after the other connections of this turn of the event loop. */
  function close(socket: Socket | undefined): void {
    if (!socket) return;
    remove(socket);
    socket.destroy();
  }
  function closeOne(newcomer: Socket, own: Connections): void {
    const largest = findLargest(bySite);
    const oldest = [...largest.values().take(maxExamined)];
    const idle = oldest.find(isIdle);
    if (idle) close(idle);
    else if (largest.size <= own.size + 1) close(newcomer);
    else close(oldest.find(awaitsBody) ?? [...largest].at(-1));
  }
  server.on('connection', (socket: Socket) => {
    const ofSite = add(socket);
    socket.once('close', () => remove(socket));
    if (sites.size > max + extraConnections) close(socket);
    else if (sites.size > max) closeOne(socket, ofSite);
  });
  server.on('request', ({ socket }, response) => lastResponses.set(socket, response));
}
