import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { refuseConnection } from './refuse-connection.ts';

test('a client whose headers do not arrive in time gets 408 with a problem document', { timeout: 15_000 }, async (t) => {
  const server = createServer({ headersTimeout: 20, connectionsCheckingInterval: 10 });
  server.on('clientError', (error, socket) => refuseConnection(error, socket as Socket, Date.now()));
  t.after(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.write('GET / HTTP/1.1\r\n');
  const [head = '', body = ''] = (await text(client)).split('\r\n\r\n');
  assert.match(head, /^HTTP\/1\.1 408 /);
  assert.equal(JSON.parse(body).code, 'headersTooSlow');
});
