import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { siteOf } from '#core/client-networks.ts';
import { ItemsByGroup } from '#core/items-by-group.ts';
import { isPart } from '#http/part-type.ts';

const uploadMethods: readonly (string | undefined)[] = ['PUT', 'PATCH'];
const maxExamined = 256; // oldest connections of a site that are examined: a client can open thousands, and open new ones all the time

/** Returns whether a request sends a file, or a part of one. A client that cannot send PATCH sends a part by POST. */
const isUpload = (request: IncomingMessage) => uploadMethods.includes(request.method) || isPart(request);

/**
 * Limits the number of connections, so that idle connections of one site do not keep other clients out. Beyond the limit, each new
 * connection ends one connection. Site A is the site with the most connections, and `closeOne` examines its `maxExamined` oldest ones. It
 * closes the oldest of these without a request in progress. If there is none, and the new connection comes from A or from a site that now
 * has at most one connection less, it closes the new connection. Otherwise, it closes the oldest of these whose request body (other than an
 * upload) is incomplete, or else the newest connection of A.
 */
export function limitConnections(server: Server, max: number): void {
  const bySite = new ItemsByGroup<Socket>();
  const sites = new Map<Socket, string>();
  const lastResponses = new WeakMap<Socket, ServerResponse>(); // responses end in the order of their requests
  const isIdle = (socket: Socket) => lastResponses.get(socket)?.writableFinished ?? true;
  function awaitsBody(socket: Socket): boolean {
    const request = lastResponses.get(socket)?.req;
    return request !== undefined && !request.complete && !isUpload(request);
  }
  function remove(socket: Socket): void {
    bySite.remove(sites.get(socket) ?? '', socket);
    sites.delete(socket);
  }
  /** Closes a connection, and stops counting it at once: its event `close` comes only after further new connections. */
  function close(socket: Socket | undefined): void {
    if (!socket) return;
    remove(socket);
    socket.destroy();
  }
  function closeOne(newcomer: Socket, site: string): void {
    const { largest } = bySite;
    const oldest = [...largest.values().take(maxExamined)];
    const idle = oldest.find(isIdle);
    if (idle) close(idle);
    else if (largest.size <= bySite.itemsOf(site).size + 1) close(newcomer);
    else close(oldest.find(awaitsBody) ?? [...largest].at(-1));
  }
  server.on('connection', (socket: Socket) => {
    const site = siteOf(socket.remoteAddress ?? '');
    sites.set(socket, site);
    bySite.add(site, socket);
    socket.once('close', () => remove(socket));
    if (sites.size > max) closeOne(socket, site);
  });
  server.on('request', ({ socket }, response) => lastResponses.set(socket, response));
}
