import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** With more sockets, one iteration of the event loop would accept so many connections that requests would have to wait. */
const additionalSockets = 15;
/**
 * Maximum number of connections that wait to be accepted, for all sockets together. A longer queue fills with connections whose clients
 * have left already, and everyone else waits behind them for seconds. Beyond the limit, the kernel drops an attempt, and the client tries
 * again after a second.
 */
const backlog = 1024;

export interface ListenAddress {
  readonly host: string;
  /** 0 stands for any free port. */
  readonly port: number;
}

/**
 * Returns the port of an address; if that is 0, a free port.
 * @throws Error if another program listens on the port, or the port may not be used. With `reusePort`, several programs could share it
 */
async function claimPort(address: ListenAddress): Promise<number> {
  const server = createServer().listen(address);
  await once(server, 'listening');
  const boundAddress = server.address();
  server.close();
  await once(server, 'close');
  return typeof boundAddress === 'object' && boundAddress ? boundAddress.port : address.port;
}

/** Ends the listening of a socket. Resolves when the connections of the socket have ended; at once if it does not listen. */
const close = (socket: Server) => new Promise<void>((resolve) => socket.close(() => resolve()));

/** Returns a socket whose connections the server handles as its own. It does not listen yet. */
function additionalSocket({ server }: FastifyInstance): Server {
  return createServer({ allowHalfOpen: true, noDelay: true }, (connection) => {
    Object.assign(connection, { server }); // Node.js reports errors of the connection to this server
    server.emit('connection', connection);
  });
}

/**
 * Starts to listen, with several sockets on one port where the system can divide connections among them (Linux). Node.js accepts one
 * connection from each socket in one iteration of its event loop: with a single socket, a new connection waits for seconds behind
 * hundreds of connections of a client that connects again and again. `app.close` closes all the sockets.
 * @throws Error if the port is in use, or may not be used
 */
export async function listen(app: FastifyInstance, address: ListenAddress): Promise<void> {
  if (process.platform !== 'linux') return void (await app.listen({ ...address, backlog }));
  const port = await claimPort(address);
  const options = { host: address.host, port, backlog: backlog / (1 + additionalSockets), reusePort: true };
  const sockets = Array.from({ length: additionalSockets }, () => additionalSocket(app));
  let closing: Promise<unknown> | undefined;
  app.addHook('preClose', (done) => {
    closing = Promise.all(sockets.map(close));
    done();
  });
  app.addHook('onClose', async () => void (await closing));
  await app.listen(options);
  for (const socket of sockets) {
    socket.listen(options);
    await once(socket, 'listening');
  }
}
