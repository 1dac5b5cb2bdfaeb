import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Opens a connection to the port of an address on this machine. */
export async function dial(url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  return socket.on('error', () => {});
}

/**
 * Sends bytes unchanged and returns all that the server sends until it closes the connection.
 * @param signal closes the connection if the server does not
 */
export async function sendRaw(url: string, bytes: string | Buffer, signal?: AbortSignal): Promise<string> {
  const socket = await dial(url);
  signal?.addEventListener('abort', () => socket.destroy());
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  socket.write(bytes);
  await new Promise((resolve) => socket.once('close', resolve)); // a reset is a valid result, too
  return text;
}

/** Sends one request on its own connection. */
export const sendRequest = (url: string, line: string, headers: readonly string[] = [], body = '', signal?: AbortSignal) =>
  sendRaw(url, [`${line} HTTP/1.1`, `Host: ${new URL(url).host}`, 'Connection: close', ...headers, '', body].join('\r\n'), signal);

export const statusOf = (text: string) => Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);
/** Returns the status codes of all responses on a connection. */
export const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
