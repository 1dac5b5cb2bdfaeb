import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { unreadResponses } from '#http/unread-responses.ts';
import { clientLeft } from './client-left.ts';

/** The response to a client that has left, after all that hears of it at that moment has heard. */
async function leftResponse(t: TestContext): Promise<ServerResponse> {
  const begun = Promise.withResolvers<ServerResponse>();
  const server = createServer((_request, response) => begun.resolve(response)).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const asked = request({ port, host: '127.0.0.1', agent: false }).on('error', () => {});
  asked.end();
  const response = await begun.promise;
  const closed = once(response, 'close');
  asked.destroy();
  await closed;
  return response;
}

test('a client that has left while a hook was waiting is known to have left', async (t) => {
  assert.equal(clientLeft(await leftResponse(t)).aborted, true);
});

test('a large answer whose client has left already holds no memory of its tenant', async (t) => {
  const answers = unreadResponses({ tenant: 1 << 20, all: 1 << 20 });
  const response = await leftResponse(t);
  for (let number = 0; number < 3; number += 1) answers.hold({ tenant: '1' }, 1 << 20, response);
});

test('large answers that nobody takes are bounded, of one tenant and of all', async (t) => {
  const answers = unreadResponses({ tenant: 2 << 20, all: 3 << 20 });
  const server = createServer((_request, response) => {
    const tenants = ['1', '1', '1', '2', '3'];
    const refused = tenants.map((tenant) => {
      try {
        answers.hold({ tenant }, 1 << 20, response);
        return false;
      } catch {
        return true;
      }
    });
    response.end(JSON.stringify(refused));
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const ask = async () => (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)).json();
  assert.deepEqual(await ask(), [false, false, true, false, true]);
  assert.deepEqual(await ask(), [false, false, true, false, true], 'what has gone makes room');
});
