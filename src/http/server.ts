import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import Fastify, { type FastifyInstance, LogController } from 'fastify';
import { Refusal } from '#core/messages.ts';
import type { Clock } from '#ports/clock.ts';
import type { Random } from '#ports/random.ts';
import { largestBody } from './body-limits.ts';
import { trustIn, untrustedProxyWarning, withoutPorts } from './connections/forwarded.ts';
import { nodeServer } from './connections/node-server.ts';
import { jsonBodies } from './json-body.ts';
import { asRefusal, isAbandoned, problemOf, sendProblem, unexpectedRefusal } from './problem.ts';
import { expectBody, type RequestTimeouts } from './request-timeouts.ts';
import { linkHeaders } from './visitor/visitor-responses.ts';

/** What the HTTP server needs to know. */
export interface HttpSettings {
  readonly trustedProxies: readonly string[];
  /** Where log lines go; null: nowhere. */
  readonly log: NodeJS.WritableStream | null;
  readonly timeouts: RequestTimeouts;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body is a file: its handler asks for it, and says how fast it must come. */
    receivesFile?: boolean;
  }
}

const requestIdBits = 96;
const longestPath = 16_384;
const fitsTheKernel = 1 << 14; // bytes, in any setting

/** An id for each request: unguessable by process, counted within it. */
function requestIds(random: Random): () => string {
  const begin = random.token(requestIdBits);
  let count = 0;
  return () => {
    count += 1;
    return `${begin}-${count.toString(36)}`;
  };
}

/** Answers what is not even HTTP, and closes. */
function refuseConnection(error: Error & { code?: string }, socket: Socket, now: number): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const refusal = new Refusal(error.code === 'HPE_HEADER_OVERFLOW' ? 'headersTooLarge' : 'requestMalformed');
  const problem = problemOf(refusal, '', now);
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${problem.status} Bad Request`,
    'Content-Type: application/problem+json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** RFC 9112, 3.2: none or several Host headers are 400. */
function hostFault({ rawHeaders, httpVersion }: IncomingMessage): Refusal | null {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]?.length === 4 && rawHeaders[index]?.toLowerCase() === 'host') hosts += 1;
  if (hosts === 1 || (hosts === 0 && httpVersion !== '1.1')) return null;
  return new Refusal('requestMalformed', 'A request names its Host once.');
}

/** RFC 9110, 10.1.1: what is expected beyond 100-continue is 417. */
const expectationFault = ({ expect }: IncomingHttpHeaders) =>
  expect === undefined || expect.toLowerCase() === '100-continue' ? null : new Refusal('expectationUnknown');

/** RFC 9112, 6: what says that a body follows. */
const hasBody = (headers: IncomingHttpHeaders) => headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

/** RFC 9112, 3.2.2: a request target may be a complete address. Returns its path and query. */
const originForm = (target: string) =>
  target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?]*/i, '').replace(/^(?!\/)/, '/');

/** May an answer wait for its reader? Then it holds a connection, and the memory of its body. A smaller one fits into the kernel's buffer. */
const isLarge = (payload: unknown) =>
  typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length >= fitsTheKernel : payload !== null && payload !== undefined;

/** Fastify, with the strictness that decisions.md asks of bodies and answers. */
export function httpServer(settings: HttpSettings, { clock, random }: { clock: Clock; random: Random }): FastifyInstance {
  const isTrusted = trustIn(settings.trustedProxies);
  const warnOfProxy = untrustedProxyWarning(isTrusted);
  const app = Fastify({
    logger: settings.log ? { stream: settings.log, base: null } : false,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: largestBody,
    trustProxy: isTrusted ?? false,
    rewriteUrl: ({ url = '/' }) => originForm(url),
    genReqId: requestIds(random),
    childLoggerFactory: (logger) => logger,
    serverFactory: nodeServer,
    routerOptions: { maxParamLength: longestPath, caseSensitive: true },
    clientErrorHandler: (error, socket) => refuseConnection(error, socket, clock.now()),
    frameworkErrors: (error, request, reply) =>
      void sendProblem(request, reply.headers(linkHeaders), asRefusal(error, request) ?? new Refusal('requestMalformed'), clock.now()),
  });
  app.decorateRequest('refusal', null);
  app.removeAllContentTypeParsers();
  const readJson = jsonBodies();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, readJson);
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    const forwarded = request.raw.headers['x-forwarded-for'];
    if (forwarded !== undefined) {
      request.raw.headers['x-forwarded-for'] = withoutPorts(String(forwarded));
      warnOfProxy(request);
    }
    done(hostFault(request.raw) ?? expectationFault(request.headers) ?? undefined);
  });
  app.addHook('preParsing', (request, reply, payload, done) => {
    const { method, headers, raw } = request;
    const isFile = method === 'PUT' && request.routeOptions.config.receivesFile === true;
    if (!isFile && headers.expect !== undefined) reply.raw.writeContinue();
    if (method === 'GET' || method === 'HEAD') return done(null, payload);
    if (!isFile && hasBody(headers) && !raw.complete) expectBody(raw, settings.timeouts);
    // Of a request without a body Node has ended the stream already, and no parser would hear of it.
    done(null, hasBody(headers) ? payload : Readable.from([]));
  });
  app.addHook('onSend', ({ raw: { socket } }, _reply, payload, done) => {
    if (isLarge(payload) || socket.writableLength > 0) socket.setTimeout(settings.timeouts.stalled);
    done(null, payload);
  });
  app.setErrorHandler((error, request, reply) => {
    if (isAbandoned(error, request)) return void reply.hijack();
    return sendProblem(request, reply, asRefusal(error, request) ?? unexpectedRefusal(request, error), clock.now());
  });
  return app;
}

/** What a server without links answers to every other address. */
export function answerNotFound(app: FastifyInstance, clock: Clock): void {
  app.register(async (rest) => {
    rest.addHook('onRequest', (_request, _reply, done) => done(new Refusal('notFound'))); // before the body comes
    rest.setNotFoundHandler((request, reply) => sendProblem(request, reply, new Refusal('notFound'), clock.now()));
  });
}
