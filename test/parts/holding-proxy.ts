import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';

/** A proxy that holds some requests until a test releases them. */
export interface HoldingProxy extends AsyncDisposable {
  /** URL of the proxy with the path of the target: requests to it reach the target through the proxy. */
  readonly url: string;
  /** Resolves when the first request is held. */
  readonly held: Promise<void>;
  release(): void;
}

/** @param isHeld whether a request is held @param target an address at an HTTP server */
export async function startHoldingProxy(target: string, isHeld: (message: IncomingMessage) => boolean): Promise<HoldingProxy> {
  const [arrived, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { hostname, port, pathname } = new URL(target);
  const server = createServer(async (message, response) => {
    if (isHeld(message)) {
      arrived.resolve();
      await gate.promise;
    }
    const { url = '', method = 'GET', headers } = message;
    const upstream = request({ hostname, port, path: url, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    upstream.on('error', () => response.destroy());
    message.pipe(upstream);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}${pathname}`,
    held: arrived.promise,
    release: gate.resolve,
    async [Symbol.asyncDispose]() {
      gate.resolve();
      server.closeAllConnections();
      server.close();
    },
  };
}
