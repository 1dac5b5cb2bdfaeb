import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Returns the URL at which a browser on this machine reaches a server. */
export function urlOf(app: FastifyInstance, host: string): string {
  const address: AddressInfo | string | null = app.server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const name = host === '127.0.0.1' || host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
