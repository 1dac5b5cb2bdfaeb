import type { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import Fastify, { type FastifyInstance, type FastifyRequest, LogController } from 'fastify';
import { Refusal } from '#core/messages.ts';
import type { Clock } from '#ports/clock.ts';
import type { Random } from '#ports/random.ts';
import { accessLogger, type WriteAccessEntry } from './access-log.ts';
import { arrivingBodies } from './arriving-bodies.ts';
import { maxBodyBytes } from './body-limits.ts';
import { trustedProxyCheck, untrustedProxyWarning, withoutPorts } from './connections/forwarded.ts';
import { maxConnections } from './connections/max-connections.ts';
import { createNodeServer } from './connections/node-server.ts';
import { ParseTurns } from './connections/parse-turns.ts';
import { refuseConnection } from './connections/refuse-connection.ts';
import { requestTurns } from './connections/request-turns.ts';
import { waitingBodies } from './connections/waiting-bodies.ts';
import { jsonBodyParser } from './json-body.ts';
import { asRefusal, isAbandoned, sendProblem, unexpectedRefusal } from './problem.ts';
import { expectBody, type RequestTimeouts } from './request-timeouts.ts';
import { linkHeaders } from './visitor/visitor-responses.ts';

/** Settings of the HTTP server. */
export interface HttpSettings {
  readonly trustedProxies: readonly string[];
  /** Receives log lines; null: no log is written. */
  readonly log: NodeJS.WritableStream | null;
  readonly timeouts: RequestTimeouts;
  /** Holds the address of the client while its request runs; null: nothing reads it. */
  readonly clientAddress: AsyncLocalStorage<string> | null;
  /** Receives the entries of the access log; null: none is written. */
  readonly writeAccessEntry: WriteAccessEntry | null;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body is a file or a part of one: the handler itself sends 100 Continue, and limits how slowly the body may arrive. */
    receivesFile?: boolean;
  }
}

const requestIdBits = 96;
const maxPathLength = 16_384;
const kernelBuffer = 1 << 14; // bytes: the kernel's send buffer has at least this size, unless its maximum was reduced

/** Returns a function that creates request ids: an unguessable prefix of the process, and a counter. */
function createRequestIds(random: Random): () => string {
  const prefix = random.token(requestIdBits);
  let count = 0;
  return () => {
    count += 1;
    return `${prefix}-${count.toString(36)}`;
  };
}

/** Returns a 400 for several Host headers, or for none in HTTP/1.1 (RFC 9112, 3.2). */
function hostRefusal({ rawHeaders, httpVersion }: IncomingMessage): Refusal | null {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]?.length === 4 && rawHeaders[index]?.toLowerCase() === 'host') hosts += 1;
  if (hosts === 1 || (hosts === 0 && httpVersion !== '1.1')) return null;
  return new Refusal('requestMalformed', 'A request must have exactly one Host header.');
}

/** Returns a 400 for chunks in HTTP/1.0: a proxy may read such a body differently (RFC 9112, 6.1). */
const framingRefusal = ({ headers, httpVersion }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined && httpVersion === '1.0'
    ? new Refusal('requestMalformed', 'HTTP/1.0 has no Transfer-Encoding: send Content-Length.')
    : null;

/** Returns a 417 for any expectation except 100-continue (RFC 9110, 10.1.1). */
const expectationRefusal = ({ expect }: IncomingHttpHeaders) =>
  expect === undefined || expect.toLowerCase() === '100-continue' ? null : new Refusal('expectationUnknown');

/** Returns whether the headers announce a body (RFC 9112, 6). */
const hasBody = (headers: IncomingHttpHeaders) => headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

/** Returns the path and query of a request target, which may be a complete URL (RFC 9112, 3.2.2). */
const toOriginForm = (target: string) =>
  target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?]*/i, '').replace(/^(?!\/)/, '/');

/**
 * Returns whether a response is perhaps too large for the kernel's send buffer. A slow client can delay
 * such a response, which then occupies its connection and memory.
 */
const isLarge = (payload: unknown) =>
  typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length >= kernelBuffer : payload !== null && payload !== undefined;

/**
 * Adds X-Request-Id to the response, and removes the ports from X-Forwarded-For. Must be the first hook: the others may refuse the
 * request, and use `request.ip`, which Fastify reads from X-Forwarded-For.
 */
function identifyRequests(app: FastifyInstance, warnOfProxy: (request: FastifyRequest) => void): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    const forwarded = request.raw.headers['x-forwarded-for'];
    if (forwarded !== undefined) {
      request.raw.headers['x-forwarded-for'] = withoutPorts(String(forwarded));
      warnOfProxy(request);
    }
    done();
  });
}

/** Refuses requests that are malformed, ambiguous or have an unknown expectation, before their body is read. */
function checkRequests(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const framing = framingRefusal(request.raw);
    if (framing) reply.header('connection', 'close');
    done(framing ?? hostRefusal(request.raw) ?? expectationRefusal(request.headers) ?? undefined);
  });
}

/**
 * Receives bodies. Limits the number and memory of bodies that are not files, and the time until they have arrived. A request without a
 * body gets an empty one.
 */
function receiveBodies(app: FastifyInstance, timeouts: RequestTimeouts): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, jsonBodyParser());
  const bodies = arrivingBodies(maxConnections());
  app.addHook('preParsing', (request, reply, payload, done) => {
    const { method, headers, raw } = request;
    const isFile = request.routeOptions.config.receivesFile === true;
    if (!isFile && headers.expect !== undefined) reply.raw.writeContinue();
    if (method === 'GET' || method === 'HEAD') {
      if (hasBody(headers)) reply.header('connection', 'close'); // nobody reads the body, which may be endless
      return done(null, payload);
    }
    // Node.js has already ended the stream of a request without a body: a parser would never see
    // the end.
    if (!hasBody(headers)) return done(null, Readable.from([]));
    if (isFile || raw.complete) return done(null, payload);
    // A short body usually comes with the headers. Its bytes are readable in the next microtask.
    queueMicrotask(() => {
      if (!raw.complete && `${raw.readableLength}` !== headers['content-length']) {
        try {
          bodies.expect(raw, reply.raw, request.ip, request.routeOptions.bodyLimit ?? maxBodyBytes);
        } catch (cause) {
          reply.header('connection', 'close'); // the rest of the body would occupy the connection
          return done(cause instanceof Refusal ? cause : new Refusal('bodiesBusy'));
        }
        expectBody(raw, reply.raw, timeouts);
      }
      done(null, payload);
    });
  });
}

/**
 * Lets requests start in turns. While a request waits, Node.js already reads up to 64 KiB of its body. `waitingBodies` limits the memory
 * that these bodies use together.
 */
function startInTurns(app: FastifyInstance, { clientAddress }: HttpSettings, parsing: ParseTurns): void {
  const turns = requestTurns(
    () => performance.now(),
    () => parsing.totalTime,
  );
  const bodies = waitingBodies();
  app.addHook('onRequest', (request, _reply, done) => {
    const start = () => (clientAddress ? clientAddress.run(request.ip, done) : done());
    if (turns.takeStart()) return start();
    try {
      const release = bodies.hold(request.raw, request.ip);
      turns.wait(request.ip, {
        start() {
          release();
          start();
        },
        onLeave: (leave) => request.raw.once('close', leave), // nobody reads the request yet, so it closes only with its connection
        drop: release,
      });
    } catch (cause) {
      done(cause instanceof Refusal ? cause : new Refusal('bodiesBusy'));
    }
  });
}

/** Creates a Fastify server with the rules for all bodies and responses (docs/integrator/rest.md, "Requests and responses"). */
export function createHttpServer(settings: HttpSettings, { clock, random }: { clock: Clock; random: Random }): FastifyInstance {
  const isTrusted = trustedProxyCheck(settings.trustedProxies);
  const parsing = new ParseTurns(() => performance.now());
  const logAccess = settings.writeAccessEntry && accessLogger(settings.writeAccessEntry, clock, () => performance.now());
  const app = Fastify({
    logger: settings.log ? { stream: settings.log, base: null } : false,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: maxBodyBytes,
    trustProxy: isTrusted ?? false,
    rewriteUrl: ({ url = '/' }) => toOriginForm(url),
    genReqId: createRequestIds(random),
    childLoggerFactory: (logger) => logger,
    serverFactory: (handle) => createNodeServer(handle, parsing),
    routerOptions: { maxParamLength: maxPathLength, caseSensitive: true },
    clientErrorHandler: (error, socket) => refuseConnection(error, socket, clock.now()),
    frameworkErrors(error, request, reply) {
      logAccess?.(request, reply); // for these errors, no hook runs
      const headers = { ...linkHeaders, 'x-request-id': request.id };
      void sendProblem(request, reply.headers(headers), asRefusal(error, request) ?? new Refusal('requestMalformed'), clock.now());
    },
  });
  app.decorateRequest('refusal', null);
  identifyRequests(app, untrustedProxyWarning(isTrusted));
  if (logAccess)
    app.addHook('onRequest', (request, reply, done) => {
      logAccess(request, reply); // before the hooks that may refuse or redirect the request
      done();
    });
  startInTurns(app, settings, parsing);
  checkRequests(app);
  receiveBodies(app, settings.timeouts);
  app.addHook('onSend', ({ raw: { socket } }, _reply, payload, done) => {
    if (isLarge(payload) || socket.writableLength > 0) socket.setTimeout(settings.timeouts.idle);
    done(null, payload);
  });
  app.setErrorHandler((error, request, reply) => {
    if (isAbandoned(error, request)) return void reply.hijack();
    return sendProblem(request, reply, asRefusal(error, request) ?? unexpectedRefusal(request, error), clock.now());
  });
  return app;
}

/** Responds with 404 at all addresses that have no route, on a server without links. */
export function refuseUnknownPaths(app: FastifyInstance, clock: Clock): void {
  app.register(async (scope) => {
    scope.addHook('onRequest', (_request, _reply, done) => done(new Refusal('notFound'))); // before the body arrives
    scope.setNotFoundHandler((request, reply) => sendProblem(request, reply, new Refusal('notFound'), clock.now()));
  });
}
