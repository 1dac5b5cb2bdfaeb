import type { Socket } from 'node:net';
import { type MessageName, Refusal } from '#core/messages.ts';
import { problemOf } from '#http/problem.ts';
import { STATUS_CODES } from './node-http.ts';

/** The messages by the error codes of Node's HTTP server. All other errors are malformed requests. */
const messages = new Map<string, MessageName>([
  ['HPE_HEADER_OVERFLOW', 'headersTooLarge'],
  ['ERR_HTTP_REQUEST_TIMEOUT', 'headersTooSlow'],
]);

/** Refuses bytes that are not valid HTTP, and headers that are too large or do not arrive in time. Closes the connection. */
export function refuseConnection(error: Error & { code?: string }, socket: Socket, now: number): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const problem = problemOf(new Refusal(messages.get(error.code ?? '') ?? 'requestMalformed'), '', now);
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    'Content-Type: application/problem+json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
