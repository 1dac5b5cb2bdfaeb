import type { FastifyReply, FastifyRequest } from 'fastify';
import { formatInstant } from '#core/instant.ts';
import type { Clock } from '#ports/clock.ts';
import { pathOf } from './problem.ts';

/** Writes one entry of the access log. The entry can be serialized as JSON. */
export type WriteAccessEntry = (entry: object) => void;

/**
 * What entries leave out of a path: the viewId, which grants access, and the token of an unsubscribe link. The audit log
 * names the share under the same `requestId`.
 */
const secretInPath = /(?:\/|%2f)([sp]|unsubscribe)(?:\/|%2f)+[^/]*/i; // also in a mistyped address, such as `//s/…`

/** A letter in percent-encoding. The router decodes it, so that `/%73/…` is a link, too. */
const encodedLetter = /%([46][1-9a-f]|[57][0-9a])/gi;

const maxTextLength = 1024; // characters of a path or a User-Agent

/** Returns the path without viewId and token, and without the query, which may contain any data. */
const safePath = (url: string) =>
  pathOf(url)
    .replace(encodedLetter, (text) => decodeURIComponent(text))
    .replace(secretInPath, '/$1/…')
    .slice(0, maxTextLength);

/** Replaces control characters, with which a text could change a terminal that shows it. */
const visibleText = (text: string) => text.replace(/\p{Cc}/gu, '\uFFFD');

const callerField = ({ caller }: FastifyRequest) =>
  caller ? { caller: { kind: caller.kind, id: caller.id, name: caller.name, tid: caller.tid } } : {};

/**
 * Returns a function to be called when a request has arrived. The function writes one entry when the response was sent completely, or
 * when the connection has closed before that. No entry holds a query, a body, a cookie or any header except User-Agent.
 * @param elapsed returns a monotonic time in ms
 */
export function accessLogger(write: WriteAccessEntry, clock: Clock, elapsed: () => number) {
  return (request: FastifyRequest, reply: FastifyReply): void => {
    const start = elapsed();
    const { socket } = request.raw;
    const bytesBefore = socket.bytesWritten;
    reply.raw.once('close', () =>
      write({
        time: formatInstant(clock.now()),
        requestId: request.id,
        address: request.ip,
        method: request.method,
        path: safePath(request.url),
        status: reply.raw.headersSent ? reply.raw.statusCode : null,
        ...(request.refusal === null ? {} : { refusal: request.refusal }),
        complete: reply.raw.writableFinished,
        bytes: socket.bytesWritten - bytesBefore,
        seconds: Math.round(elapsed() - start) / 1000,
        client: visibleText(request.headers['user-agent'] ?? '').slice(0, maxTextLength),
        ...callerField(request),
      }),
    );
  };
}
