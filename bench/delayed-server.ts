import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Forwards bytes, each after a delay. @param delay ms */
function forward(from: Socket, to: Socket, delay: number): void {
  from.on('data', (chunk) => setTimeout(() => to.write(chunk), delay));
  from.on('end', () => setTimeout(() => to.end(), delay));
  from.on('error', () => to.destroy());
  from.on('close', () => setTimeout(() => to.destroy(), delay));
}

/** Starts a proxy that delays all bytes, as if the server behind it were far away. @param roundTrip ms */
export async function startDelayedServer(target: URL, roundTrip: number): Promise<AsyncDisposable & { readonly url: string }> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('close', () => sockets.delete(from));
      forward(from, to, roundTrip / 2);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
