import type { FastifyReply, FastifyRequest } from 'fastify';
import { formatInstant } from '#core/instant.ts';
import { type MessageName, messages, Refusal } from '#core/messages.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { InvalidValue, StoreFull, StoreUnavailable } from '#ports/store.ts';

/** Returns the body of a refusal: RFC 9457, plus fields for clients that do not read RFC 9457. */
export function problemOf(refusal: Refusal, instance: string, now: number) {
  const { id, status, title } = messages[refusal.messageName];
  const { fieldErrors, fields } = refusal.extras;
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
    ...fields,
  };
}

/** Returns the path of a request without its query. */
export const pathOf = (url: string) => url.split('?', 1)[0] ?? url;

/** Returns the headers that belong to a refusal. */
export function refusalHeaders({ extras }: Refusal): Record<string, string> {
  return {
    ...(extras.retryAfter === undefined ? {} : { 'retry-after': String(extras.retryAfter) }),
    ...(extras.allow === undefined ? {} : { allow: extras.allow }),
    ...(extras.fileSize === undefined ? {} : { 'content-range': `bytes */${extras.fileSize}` }),
  };
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The code of the refusal that was sent, as a problem document or a page; null: none was sent. */
    refusal: MessageName | null;
  }
}

/** Sends a refusal as problem+json. A 401 without another challenge asks for a key (RFC 6750, 3). */
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
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => new Refusal('requestMalformed', 'The length of the body differs from Content-Length.'),
  FST_ERR_BAD_URL: () => new Refusal('pathMalformed', 'The address is not percent-encoded UTF-8.'),
};

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '');

/** Returns a refusal (413) that names the maximum size of a body. @param limit bytes */
export const bodyTooLarge = (limit: number) =>
  new Refusal('bodyTooLarge', `The body is larger than ${limit < 2 ** 20 ? `${limit / 2 ** 10} KiB` : `${limit / 2 ** 20} MiB`}.`);

/** Returns the refusal to send for an error, or null for an error in Postern itself. */
export function asRefusal(error: unknown, request: FastifyRequest): Refusal | null {
  // The connection was reset: its socket has no address any more, even if it does not report the reset yet. Nobody reads the response.
  if (request.raw.socket.remoteAddress === undefined) return new Refusal('requestMalformed');
  if (error instanceof Refusal) return error;
  if (error instanceof StoreFull) return new Refusal('storageFull');
  if (error instanceof InvalidValue)
    return new Refusal('requestMalformed', 'The request contains a value that cannot be stored, such as a number that is too large.');
  if (error instanceof StoreUnavailable)
    return new Refusal(
      'storeAway',
      'The database does not respond. A change may have taken place. If the request had an Idempotency-Key, repeat it with the same key.',
    );
  if (codeOf(error) === 'FST_ERR_CTP_BODY_TOO_LARGE') return bodyTooLarge(request.routeOptions.bodyLimit);
  if (error instanceof StorageUnavailable) return new Refusal('storageAway');
  if (['EMFILE', 'ENFILE'].includes(codeOf(error))) return new Refusal('descriptorsUsedUp', undefined, { retryAfter: 5 });
  const refusal = fastifyRefusals[codeOf(error)]?.();
  if (refusal) return refusal;
  // A plugin refused the client's request: the response names only the kind of refusal.
  const status: unknown = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
  if (status === 403 || status === 404) return new Refusal('notFound');
  return typeof status === 'number' && status >= 400 && status < 500 ? new Refusal('requestMalformed') : null;
}

/** Returns whether the client left before its turn came, or before it received the response. No response can reach it. */
export const isAbandoned = (error: unknown, { raw }: FastifyRequest) =>
  raw.socket.destroyed &&
  error instanceof Error &&
  (error.name === 'AbortError' || ['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET'].includes(codeOf(error)));

/** Returns function, file and line of an error's first stack frame in our own source, or ''. A log must not contain more of the stack. */
export function sourceLocationOf(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const [, name, place] = /^ +at (?:async )?(?:([\w.$#<>]+) \()?[^()\n]*\/((?:src|build\/server)\/[\w./-]+:\d+)/m.exec(stack) ?? [];
  return name === undefined ? (place ?? '') : `${name} (${place})`;
}

/** Logs an error in Postern itself, and returns a refusal that gives its incident id to the client. */
export function unexpectedRefusal(request: FastifyRequest, error: unknown): Refusal {
  request.log.error(
    { incident: request.id, ...errorLogFields(error) },
    'A request failed because of an error in Postern. Please report this log entry.',
  );
  return new Refusal(
    'unexpected',
    `An unexpected error occurred on the server. The server log has the details under incident ${request.id}.`,
  );
}

/** Returns the log fields of an unexpected error, without its message, which may contain SQL, paths or secrets. */
export const errorLogFields = (error: unknown) => ({
  error: error instanceof Error ? error.name : typeof error,
  code: codeOf(error),
  place: sourceLocationOf(error),
});
