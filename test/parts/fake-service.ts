import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { atEnd } from './at-end.ts';

/** @param body of the request */
export type FakeResponder = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** Starts a fake HTTP service, which can send responses that no real service can be made to send. By default, a response has an ETag. */
export async function startFakeService(t: TestContext, answer: FakeResponder) {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.setHeader('etag', '"e"');
    void text(request).then((body) => answer(request, response, body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    /** Method and target of each request so far. */
    requests,
    closeConnections: () => server.closeAllConnections(),
  };
}
