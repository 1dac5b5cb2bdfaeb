import type { FastifyInstance, FastifyRequest } from 'fastify';
import { formatInstant } from '#core/instant.ts';
import type { Clock } from '#ports/clock.ts';
import { pathOf } from './problem.ts';

/** Takes one entry of the access log, an object that can be written as JSON. */
export type WriteAccess = (entry: object) => void;

/** Where a link's address begins: its viewId opens the link, and is left out. The audit log names the share by `requestId`. */
const linkPath = /^\/([sp])\/[^/]*/;

const longestText = 1024; // characters of a path or a client's name

/** Returns the path without what opens a link, and without the query, which may hold anything. */
const safePath = (url: string) => pathOf(url).replace(linkPath, '/$1/…').slice(0, longestText);

const callerIn = ({ caller }: FastifyRequest) =>
  caller ? { caller: { kind: caller.kind, id: caller.id, name: caller.name, tid: caller.tid } } : {};

/**
 * Writes one entry for each request when its answer has ended, whether it was sent whole or the client left before.
 * No entry holds a viewId, a query, a body, a cookie or another header but User-Agent.
 */
export function accessLog(app: FastifyInstance, write: WriteAccess, clock: Clock, elapsed: () => number): void {
  app.addHook('onRequest', (request, reply, done) => {
    const begin = elapsed();
    const { socket } = request.raw;
    const { bytesWritten } = socket;
    reply.raw.once('close', () =>
      write({
        time: formatInstant(clock.now()),
        requestId: request.id,
        address: request.ip,
        method: request.method,
        path: safePath(request.originalUrl),
        status: reply.raw.headersSent ? reply.raw.statusCode : null,
        ...(request.refusal === null ? {} : { refusal: request.refusal }),
        complete: reply.raw.writableFinished,
        bytes: socket.bytesWritten - bytesWritten,
        seconds: Math.round(elapsed() - begin) / 1000,
        client: String(request.headers['user-agent'] ?? '').slice(0, longestText),
        ...callerIn(request),
      }),
    );
    done();
  });
}
