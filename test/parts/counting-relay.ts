import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A relay in front of a server that counts the connections through it. */
export interface CountingRelay extends AsyncDisposable {
  readonly port: number;
  /** Number of open connections. */
  readonly openCount: () => number;
}

/** @param targetPort of a server on this machine */
export async function startCountingRelay(targetPort: number): Promise<CountingRelay> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(targetPort, '127.0.0.1');
    sockets.add(client);
    client.on('close', () => {
      sockets.delete(client);
      upstream.destroy();
    });
    upstream.on('close', () => client.destroy());
    for (const socket of [client, upstream]) socket.on('error', () => {}); // 'close' follows
    client.pipe(upstream);
    upstream.pipe(client);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    openCount: () => sockets.size,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
