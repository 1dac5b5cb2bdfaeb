import type http from 'node:http';

/**
 * The module node:http. An import would evaluate all of its exports, among them WebSocket, for which Node.js loads undici:
 * 4 MB that Postern does not need.
 */
const { createServer, IncomingMessage, STATUS_CODES }: typeof http = process.getBuiltinModule('node:http');

export { createServer, IncomingMessage, STATUS_CODES };
