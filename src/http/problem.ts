import type { FastifyReply, FastifyRequest } from 'fastify';
import { formatInstant } from '#core/instant.ts';
import { type MessageName, messages, Refusal } from '#core/messages.ts';
import { StorageAway } from '#ports/storage.ts';
import { StoreAway, StoreFull, ValueRefused } from '#ports/store.ts';

/** The body of a refusal: RFC 9457, and the names that other clients read (decisions.md, Bodies and answers). */
export function problemOf(refusal: Refusal, instance: string, now: number) {
  const { id, status, title } = messages[refusal.messageName];
  const { fieldErrors } = refusal.extras;
  return {
    type: `urn:postern:problem:${refusal.messageName}`,
    title,
    status,
    detail: refusal.message,
    instance,
    code: refusal.messageName,
    messageId: id,
    timestamp: formatInstant(now),
    message: refusal.message,
    errorType: refusal.messageName,
    ...(fieldErrors && fieldErrors.length > 0 ? { errors: fieldErrors } : {}),
  };
}

/** The path of a request, without its query. */
export const pathOf = (url: string) => url.split('?', 1)[0] ?? url;

/** The headers that belong to a refusal. */
export function refusalHeaders({ extras }: Refusal): Record<string, string> {
  return {
    ...(extras.retryAfter === undefined ? {} : { 'retry-after': String(extras.retryAfter) }),
    ...(extras.allow === undefined ? {} : { allow: extras.allow }),
    ...(extras.fileSize === undefined ? {} : { 'content-range': `bytes */${extras.fileSize}` }),
  };
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The code of the problem that was answered; null: none was. */
    refusal: MessageName | null;
  }
}

/** Answers a refusal as problem+json; a 401 that nothing else challenges asks for a key (RFC 6750, 3). */
export function sendProblem(request: FastifyRequest, reply: FastifyReply, refusal: Refusal, now: number): FastifyReply {
  const problem = problemOf(refusal, pathOf(request.url), now);
  if (problem.status === 401 && !reply.hasHeader('www-authenticate')) reply.header('www-authenticate', 'Bearer');
  request.refusal = refusal.messageName;
  if (refusal.messageName === 'bodyTooSlow') reply.header('connection', 'close');
  return reply
    .code(problem.status)
    .headers(refusalHeaders(refusal))
    .header('content-type', 'application/problem+json; charset=utf-8')
    .send(JSON.stringify(problem));
}

const fastifyRefusals: Record<string, () => Refusal> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => new Refusal('contentTypeWrong'),
  FST_ERR_CTP_EMPTY_JSON_BODY: () => new Refusal('bodyMalformed', 'The body is empty.'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => new Refusal('requestMalformed', 'The body is not as long as Content-Length says.'),
  FST_ERR_BAD_URL: () => new Refusal('pathMalformed', 'The address is not percent-encoded UTF-8.'),
};

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '');

/** 413 that says how long a body may be. @param limit bytes */
export const bodyTooLarge = (limit: number) =>
  new Refusal('bodyTooLarge', `The body is larger than ${limit < 2 ** 20 ? `${limit / 2 ** 10} KiB` : `${limit / 2 ** 20} MiB`}.`);

/** What went wrong, in words for the caller; null: our own fault. */
export function asRefusal(error: unknown, request: FastifyRequest): Refusal | null {
  // The connection was reset, sometimes before the socket knows it: its address is gone, and nobody reads the answer.
  if (request.raw.socket.remoteAddress === undefined) return new Refusal('requestMalformed');
  if (error instanceof Refusal) return error;
  if (error instanceof StoreFull) return new Refusal('storageFull');
  if (error instanceof ValueRefused) return new Refusal('requestMalformed', 'A value of the request is one that no record can have.');
  if (error instanceof StoreAway)
    return new Refusal('storeAway', 'The database does not answer. Repeat a change with the same Idempotency-Key.');
  if (codeOf(error) === 'FST_ERR_CTP_BODY_TOO_LARGE') return bodyTooLarge(request.routeOptions.bodyLimit);
  if (error instanceof StorageAway) return new Refusal('storageAway');
  if (['EMFILE', 'ENFILE'].includes(codeOf(error))) return new Refusal('descriptorsUsedUp', undefined, { retryAfter: 5 });
  const known = fastifyRefusals[codeOf(error)]?.();
  if (known) return known;
  // What a plugin refuses is the client's: only which kind of refusal is told.
  const status: unknown = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
  if (status === 403 || status === 404) return new Refusal('notFound');
  return typeof status === 'number' && status >= 400 && status < 500 ? new Refusal('requestMalformed') : null;
}

/** Did the client leave before its turn came, or before it took the answer? Nobody is there to be answered. */
export const isAbandoned = (error: unknown, { raw }: FastifyRequest) =>
  raw.socket.destroyed && error instanceof Error && (error.name === 'AbortError' || codeOf(error) === 'ERR_STREAM_PREMATURE_CLOSE');

/** Where in our own source an error came from: the one thing of its stack that a log may hold. */
export function placeOf(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  return /\/(src\/[\w./-]+:\d+)/.exec(stack)?.[1] ?? '';
}

/** Logs an error of our own, and returns the refusal that gives its number to the client. */
export function unexpectedRefusal(request: FastifyRequest, error: unknown): Refusal {
  request.log.error(
    { incident: request.id, ...loggable(error) },
    'A request failed by an error in Postern itself. Please report this entry.',
  );
  return new Refusal('unexpected', `Something went wrong on our side; the log has it as incident ${request.id}.`);
}

/** What a log says of an unexpected error: no message, which may hold SQL, paths or secrets. */
export const loggable = (error: unknown) => ({
  error: error instanceof Error ? error.name : typeof error,
  code: codeOf(error),
  place: placeOf(error),
});
