import type { RequestListener, Server } from 'node:http';
import { limitConnections } from './connection-limit.ts';
import { readInTurns } from './connection-turns.ts';
import { CostlyNetworks } from './costly-networks.ts';
import { JoinedRequest } from './join-body-pieces.ts';
import { maxConnections } from './max-connections.ts';
import { createServer } from './node-http.ts';
import type { ParseTurns } from './parse-turns.ts';
import { handleInSequence } from './pipelining.ts';

const headersTimeout = 30_000; // ms
const keepAliveTimeout = 72_000; // ms, longer than the 60 s after which nginx closes its own connections

/** Creates the Node.js server behind Fastify. All requests pass through it, even those that Fastify refuses without calling a hook. */
export function createNodeServer(handle: RequestListener, turns: ParseTurns): Server {
  const options = {
    IncomingMessage: JoinedRequest,
    headersTimeout,
    keepAliveTimeout,
    requestTimeout: 0, // bodies have their own timeouts
    requireHostHeader: false, // a request without the header is refused later, with a message of Postern
    optimizeEmptyRequests: true, // the stream of an absent body costs a quarter of the time of a visit request
  };
  const handleNext = handleInSequence(handle);
  const networks = new CostlyNetworks(() => performance.now(), turns);
  const server = createServer(options, (request, response) => {
    networks.noteRequest(request);
    // Node.js drops the requests that follow a request with an Upgrade header in the same chunk, and Postern ignores that header. The
    // connection closes after the response, so that the client sends the dropped requests again.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    turns.startRequest(request, () => handleNext(request, response));
  });
  server.on('connection', (socket) => networks.add(socket));
  readInTurns(server, () => performance.now());
  // RFC 9110, 10.1.1: upload routes send 100 Continue after their checks, a hook for all other routes. A hook refuses other expectations.
  for (const expectation of ['checkContinue', 'checkExpectation'] as const)
    server.on(expectation, (request, response) => server.emit('request', request, response));
  limitConnections(server, maxConnections());
  return server;
}
