import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Opens a connection to a loopback address. */
export async function dial(url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  return socket.on('error', () => {});
}

/**
 * Sends bytes as they are and gives all that comes back until the server closes.
 * @param signal ends it where the server never does
 */
export async function sendRaw(url: string, bytes: string | Buffer, signal?: AbortSignal): Promise<string> {
  const socket = await dial(url);
  signal?.addEventListener('abort', () => socket.destroy());
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk.toString('latin1');
  });
  socket.write(bytes);
  await new Promise((resolve) => socket.once('close', resolve)); // a reset too is an answer
  return answer;
}

/** One request on a connection of its own. */
export const raw = (url: string, line: string, headers: readonly string[] = [], body = '', signal?: AbortSignal) =>
  sendRaw(url, [`${line} HTTP/1.1`, `Host: ${new URL(url).host}`, 'Connection: close', ...headers, '', body].join('\r\n'), signal);

export const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
/** All status lines of a connection. */
export const statuses = (answer: string) => [...answer.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
