import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { unreadResponses } from '#http/unread-responses.ts';
import { disconnectSignal } from './disconnect.ts';

/** Returns the response to a client that has disconnected. All 'close' listeners of the response have run. */
async function abandonedResponse(t: TestContext): Promise<ServerResponse> {
  const firstResponse = Promise.withResolvers<ServerResponse>();
  const server = createServer((_request, response) => firstResponse.resolve(response)).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const clientRequest = request({ port, host: '127.0.0.1', agent: false }).on('error', () => {});
  clientRequest.end();
  const response = await firstResponse.promise;
  const closeEvent = once(response, 'close');
  clientRequest.destroy();
  await closeEvent;
  return response;
}

test('the disconnect signal is aborted from the start if the client has already left', async (t) => {
  assert.equal(disconnectSignal(await abandonedResponse(t)).aborted, true);
});

test('a large response to a client that has left does not count towards the limit of its tenant', async (t) => {
  const responses = unreadResponses({ tenant: 1 << 20, all: 1 << 20 });
  const response = await abandonedResponse(t);
  for (let number = 0; number < 3; number += 1) responses.hold({ tenant: '1' }, 1 << 20, response);
});
