import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Linux uses the ports from 32,768 to 60,999 for outgoing connections. Such a connection of another test could take a port between
 * this check and the start of the server, so only lower ports are used.
 */
const [firstPort, lastPort] = [10_000, 32_767];

/** Returns a port that is free now. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(firstPort, lastPort + 1);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? resolve(false) : reject(error)));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
