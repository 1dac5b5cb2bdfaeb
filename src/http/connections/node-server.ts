import { createServer, type RequestListener, type Server } from 'node:http';
import { chunkTurns } from './chunk-turns.ts';
import { boundConnections } from './crowded-connections.ts';
import { mostConnections } from './descriptors.ts';
import { JoinedRequest } from './join-chunks.ts';
import { oneAfterAnother } from './pipelining.ts';

const headersTimeout = 30_000; // ms
const keepAliveTimeout = 72_000; // ms, above the 60 s after which nginx closes its own

/** The server of Node.js that Fastify answers at. Every request passes here, those that Fastify refuses without a hook too. */
export function nodeServer(handle: RequestListener): Server {
  const options = {
    IncomingMessage: JoinedRequest,
    headersTimeout,
    keepAliveTimeout,
    requestTimeout: 0, // bodies have times of their own
    requireHostHeader: false, // answered in our own words
    optimizeEmptyRequests: true, // the stream of a body that never comes costs a visit a quarter of its time
  };
  const answer = oneAfterAnother(handle);
  const watchChunks = chunkTurns();
  const server = createServer(options, (request, response) => {
    if (request.headers['transfer-encoding'] !== undefined) watchChunks(request.socket);
    answer(request, response);
  });
  // RFC 9110, 10.1.1: an upload asks for its body itself, once everything else has been asked. What else is expected is refused there too.
  for (const expectation of ['checkContinue', 'checkExpectation'] as const)
    server.on(expectation, (request, response) => server.emit('request', request, response));
  const connections = mostConnections();
  if (connections !== undefined) boundConnections(server, connections);
  return server;
}
