import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { test } from 'node:test';
import { unreadResponses } from './unread-responses.ts';

const newResponse = () => new ServerResponse(new IncomingMessage(new Socket()));

test('if one network holds all memory of a link, its newest response is aborted in favor of the first response of another network', () => {
  const unread = unreadResponses({ link: 4 << 20, wideNetwork: 4 << 20, all: 8 << 20 });
  const slowReader = Array.from({ length: 4 }, newResponse);
  for (const response of slowReader) unread.hold({ link: 'a', wideNetwork: 'slow' }, 1 << 20, response);
  assert.throws(() => unread.hold({ link: 'a', wideNetwork: 'slow' }, 1 << 20, newResponse()), { messageName: 'searchBusy' });
  const other = newResponse();
  unread.hold({ link: 'a', wideNetwork: 'other' }, 1 << 20, other);
  const isEnded = [...slowReader, other].map(({ destroyed }) => destroyed);
  assert.deepEqual(isEnded, [false, false, false, true, false]);
});

test('a response is refused if it would make its network hold as much as the others', () => {
  const unread = unreadResponses({ link: 2 << 20, wideNetwork: 2 << 20, all: 8 << 20 });
  for (const wideNetwork of ['one', 'two']) unread.hold({ link: 'a', wideNetwork }, 1 << 20, newResponse());
  assert.throws(() => unread.hold({ link: 'a', wideNetwork: 'three' }, 1 << 20, newResponse()), { messageName: 'searchBusy' });
});

test('unread large responses are limited for each tenant and in total', async (t) => {
  const responses = unreadResponses({ tenant: 2 << 20, all: 3 << 20 });
  const server = createServer((_request, response) => {
    const tenants = ['1', '1', '1', '2', '3'];
    const isRefused = tenants.map((tenant) => {
      try {
        responses.hold({ tenant }, 1 << 20, response);
        return false;
      } catch {
        return true;
      }
    });
    response.end(JSON.stringify(isRefused));
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const sendRequest = async () => (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)).json();
  assert.deepEqual(await sendRequest(), [false, false, true, false, true]);
  assert.deepEqual(await sendRequest(), [false, false, true, false, true], 'a complete response frees its memory');
});
